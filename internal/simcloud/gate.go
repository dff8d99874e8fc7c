package simcloud

import (
	"context"
	"crypto/sha256"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// gate is what every request passes before it has any effect: who is it, may it
// now, how long does it take, does it fail.
type gate struct {
	opts Options
	// tokens is keyed by digest, so that looking one up takes equal time for all guesses.
	tokens   map[[sha256.Size]byte]*Token
	limiters map[*Token]*rate.Limiter

	mu     sync.Mutex
	random *rand.Rand
}

func newGate(opts Options) *gate {
	g := &gate{
		opts:     opts,
		tokens:   make(map[[sha256.Size]byte]*Token),
		limiters: make(map[*Token]*rate.Limiter),
		random:   rand.New(rand.NewPCG(opts.Seed, 0)),
	}
	for i := range opts.Tokens {
		g.tokens[sha256.Sum256([]byte(opts.Tokens[i].secret))] = &opts.Tokens[i]
	}
	if opts.Rate > 0 {
		burst := int(math.Ceil(opts.Rate))
		g.limiters[anyone] = rate.NewLimiter(rate.Limit(opts.Rate), burst)
		for _, token := range g.tokens {
			g.limiters[token] = rate.NewLimiter(rate.Limit(opts.Rate), burst)
		}
	}
	return g
}

type tokenKey struct{}

// tokenOf returns the token that the gate let in.
func tokenOf(ctx context.Context) *Token {
	token, ok := ctx.Value(tokenKey{}).(*Token)
	if !ok {
		return &Token{}
	}
	return token
}

func (g *gate) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := g.admit(r)
		if token == nil {
			refuse(w, http.StatusUnauthorized, "the bearer token is missing or unknown")
			return
		}
		if wait := g.overLimit(token); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
			refuse(w, http.StatusTooManyRequests, "too many requests")
			return
		}
		delay, fails := g.fate()
		if delay > 0 && g.opts.Sleep(r.Context(), delay) != nil {
			return // the caller has gone
		}
		if fails {
			refuse(w, http.StatusInternalServerError, "the cloud failed, as it was told to now and then")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tokenKey{}, token)))
	})
}

// admit returns the caller's token, or nil.
func (g *gate) admit(r *http.Request) *Token {
	if len(g.tokens) == 0 {
		return anyone
	}
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return nil
	}
	return g.tokens[sha256.Sum256([]byte(secret))]
}

// overLimit returns how long the caller must wait, or 0 if it need not.
func (g *gate) overLimit(token *Token) time.Duration {
	limiter := g.limiters[token]
	if limiter == nil {
		return 0
	}
	now := g.opts.Now()
	reservation := limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (g *gate) fate() (delay time.Duration, fails bool) {
	delay = g.opts.Latency
	if g.opts.Jitter == 0 && g.opts.Fail == 0 {
		return delay, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opts.Jitter > 0 {
		delay += time.Duration(g.random.Int64N(int64(g.opts.Jitter)))
	}
	return delay, g.random.Float64() < g.opts.Fail
}
