package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/towline/terraform-provider-towline/internal/control"
	"github.com/towline/terraform-provider-towline/internal/objstore"
	"github.com/towline/terraform-provider-towline/internal/repository"
)

// ear takes what people click in Slack, between rounds and during them: over connections
// that the agent opens, so that nothing listens. What it is told goes to the store; rounds
// find it there. Nothing here keeps a round waiting, and a lost Slack changes nothing.
type ear struct {
	store              objstore.Store
	environment, agent string
	// url is that of Slack's Web API.
	url     string
	private ed25519.PrivateKey
	secrets *Secrets
	log     *slog.Logger
	now     func() time.Time
	http    *http.Client
	// woken tells the agent that there is something for its next round.
	woken chan struct{}
	// presses are clicks to be answered one after the other; forms those that ask for a
	// form, which Slack waits for.
	presses, forms chan press
	// sending bounds the forms that are taken at once.
	sending chan struct{}

	mu sync.Mutex
	// declared is what clicks are judged by; nil while none are taken. changed is closed
	// when it is another app's.
	declared *repository.State
	app      control.Slack
	changed  chan struct{}
}

const (
	// maxWaitingClicks bounds the clicks that are not answered yet.
	maxWaitingClicks = 32
	// maxForms bounds the forms that are taken at once.
	maxForms = 8
	// maxEnvelope bounds what Slack sends at once, in bytes.
	maxEnvelope = 1 << 20
	// clickTimeout bounds the answer to one click.
	clickTimeout = 30 * time.Second
	// steady is how long a connection lasts that is followed by another at once.
	steady = 30 * time.Second
	// firstPause and lastPause bound the time between connections.
	firstPause, lastPause = time.Second, 5 * time.Minute
)

func (a *Agent) newEar() *ear {
	return &ear{
		store: a.store, environment: a.config.Environment, agent: a.config.Agent, url: a.config.slackURL(), private: a.private, secrets: a.secrets, log: a.log,
		now: a.now, http: a.http, woken: make(chan struct{}, 1), changed: make(chan struct{}),
		presses: make(chan press, maxWaitingClicks), forms: make(chan press, maxWaitingClicks), sending: make(chan struct{}, maxForms),
	}
}

// Listen takes clicks on messages in Slack until ctx ends, as [Agent.Run] does too. It
// may be called beside [Agent.Round].
func (a *Agent) Listen(ctx context.Context) { a.ear.listen(ctx) }

// heed says by what clicks are judged from now on; nil takes none.
func (e *ear) heed(declared *repository.State) {
	var app control.Slack
	if declared != nil {
		if self := declared.Agents[e.agent]; self.HasSlackApp() {
			app = *self.Slack
		} else {
			declared = nil
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	same := (declared == nil) == (e.declared == nil) && app == e.app
	if e.declared, e.app = declared, app; !same {
		close(e.changed)
		e.changed = make(chan struct{})
	}
}

// heeded is by what clicks are judged, and what tells that it is another app's.
func (e *ear) heeded() (declared *repository.State, app control.Slack, changed <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.declared, e.app, e.changed
}

// listen keeps one connection after the other. Each begins with the tokens as they are then.
func (e *ear) listen(ctx context.Context) {
	var answering sync.WaitGroup
	answering.Go(func() { e.answerAll(ctx, e.presses) })
	answering.Go(func() { e.answerAll(ctx, e.forms) })
	defer answering.Wait()
	for pause := firstPause; ctx.Err() == nil; {
		declared, app, changed := e.heeded()
		if declared == nil {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		began := time.Now()
		if err := e.connection(ctx, app, changed); err != nil && ctx.Err() == nil {
			e.log.Warn("no clicks are taken from Slack; it is tried again", "error", err)
		}
		if time.Since(began) >= steady {
			pause = firstPause
		}
		wait := pause/2 + rand.N(pause/2)
		pause = min(2*pause, lastPause)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// connection takes clicks over one connection until it ends, another app is declared, or
// ctx ends.
func (e *ear) connection(ctx context.Context, app control.Slack, changed <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	var sent sync.WaitGroup
	defer sent.Wait()
	defer cancel()
	client, err := e.client(ctx, app, true)
	if err != nil {
		return err
	}
	who, err := client.AuthTestContext(ctx)
	if err != nil {
		return fmt.Errorf("ask Slack who the bot is: %w", slackProblem(err))
	}
	socket := socketmode.New(client, socketmode.OptionDialer(oneLink()), socketmode.OptionReadLimit(maxEnvelope), socketmode.OptionLog(log.New(io.Discard, "", 0)))
	ended := make(chan error, 1)
	go func() { ended <- socket.RunContext(ctx) }()
	for {
		select {
		case event := <-socket.Events:
			if !e.event(event) {
				cancel()
			}
			e.request(ctx, socket, event, who.TeamID, &sent)
		case <-changed:
			cancel()
			changed = nil
		case err := <-ended:
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return fmt.Errorf("connect to Slack: %w", slackProblem(err))
		}
	}
}

// errLinkEnded: a connection has ended, and the next is for the ear to begin.
var errLinkEnded = errors.New("the connection has ended")

// oneLink connects once. The library would connect anew at once, and what people do
// meanwhile would come over a connection that is about to be left.
func oneLink() *websocket.Dialer {
	var used atomic.Bool
	return &websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: notifyTimeout,
		NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errLinkEnded
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
}

// event heeds what an event says of the connection. It is false where that has ended: the
// next begins after a pause, which the library would not make.
func (e *ear) event(event socketmode.Event) bool {
	switch event.Type {
	case socketmode.EventTypeConnecting:
		connecting, ok := event.Data.(*slack.ConnectingEvent)
		return ok && connecting.ConnectionCount == 0
	case socketmode.EventTypeConnectionError:
		failed, ok := event.Data.(*slack.ConnectionErrorEvent)
		if ok && errors.Is(failed.ErrorObj, errLinkEnded) {
			return false
		}
		if ok {
			e.log.Warn("Slack is not reached; it is tried again", "error", slackProblem(failed.ErrorObj), "after", failed.Backoff.Round(time.Second))
		}
	case socketmode.EventTypeConnected:
		if connected, ok := event.Data.(*socketmode.ConnectedEvent); ok && connected.Info != nil {
			e.secrets.learn(connected.Info.URL) // whoever has it can take the connection
		}
	case socketmode.EventTypeHello:
		e.log.Info("taking clicks from Slack")
	case socketmode.EventTypeErrorBadMessage, socketmode.EventTypeIncomingError:
		e.log.Warn("Slack sent something that cannot be read; it is left out")
	}
	return true
}

// request acknowledges what people did, and takes it. Whoever is asked without an answer
// for three seconds is asked again: clicks are acknowledged at once, and forms with what is
// wrong with them.
func (e *ear) request(ctx context.Context, socket *socketmode.Client, event socketmode.Event, team string, sent *sync.WaitGroup) {
	if event.Request == nil || event.Request.EnvelopeID == "" {
		return
	}
	id := event.Request.EnvelopeID
	callback, ok := event.Data.(slack.InteractionCallback)
	if !ok || callback.Type != slack.InteractionTypeViewSubmission || callback.View.CallbackID != glassForm {
		e.acknowledge(ctx, socket, id, nil)
		if ok {
			e.take(callback, team)
		}
		return
	}
	select {
	case e.sending <- struct{}{}:
	default:
		e.acknowledge(ctx, socket, id, wrong{reasonInput: "Too many forms were sent at once. Send it again."})
		return
	}
	sent.Go(func() {
		defer func() { <-e.sending }()
		f, bad, said := e.takeForm(ctx, callback, team)
		e.acknowledge(ctx, socket, id, bad)
		if said != "" {
			e.tell(ctx, f.press, said)
		}
	})
}

// acknowledge answers what Slack sent: with nothing, which closes a form, or with what is
// wrong with it.
func (e *ear) acknowledge(ctx context.Context, socket *socketmode.Client, id string, bad wrong) {
	var payload any
	if len(bad) > 0 {
		payload = slack.NewErrorsViewSubmissionResponse(bad)
	}
	if err := socket.AckCtx(ctx, id, payload); err != nil {
		e.log.Warn("a click could not be acknowledged", "error", err)
	}
}

// take hands on a click on a button of ours.
func (e *ear) take(callback slack.InteractionCallback, team string) {
	p, ok := pressOf(callback)
	if !ok {
		return
	}
	p.foreign = p.team != team
	queue := e.presses
	if p.verb == pressBreakGlass {
		queue = e.forms
	}
	select {
	case queue <- p:
	default:
		e.log.Warn("clicks come faster than they can be answered; one was left out", "user", p.user)
	}
}

// answerAll answers one click after the other.
func (e *ear) answerAll(ctx context.Context, presses <-chan press) {
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-presses:
			e.answer(ctx, p)
		}
	}
}

// answer does what a click asks for, and tells only who clicked what came of it.
func (e *ear) answer(ctx context.Context, p press) {
	ctx, cancel := context.WithTimeout(ctx, clickTimeout)
	defer cancel()
	declared, _, _ := e.heeded()
	if declared == nil {
		return
	}
	text := e.secrets.Redact(e.obey(ctx, declared, p))
	e.log.Info("click", "verb", p.verb, "subject", short(p.subject), "agent", p.environment+"/"+p.agent, "user", p.user, "answer", text)
	if text != "" {
		e.tell(ctx, p, text)
	}
}

// tell says something to nobody but whoever pressed, where that was.
func (e *ear) tell(ctx context.Context, p press, text string) {
	ctx, cancel := context.WithTimeout(ctx, clickTimeout)
	defer cancel()
	_, app, _ := e.heeded()
	api, err := e.client(ctx, app, false)
	if err == nil {
		_, err = api.PostEphemeralContext(ctx, p.channel, p.user, slack.MsgOptionText(text, false))
	}
	if err != nil {
		e.log.Warn("whoever clicked was not answered", "user", p.user, "error", slackProblem(err))
	}
}

// client is the Web API as the declared bot; with the app's own token too, if wanted.
func (e *ear) client(ctx context.Context, app control.Slack, own bool) (*slack.Client, error) {
	bot, err := e.token(ctx, "bot", "xoxb-", app.BotToken())
	if err != nil {
		return nil, err
	}
	opts := []slack.Option{slack.OptionHTTPClient(e.http), slack.OptionLog(log.New(io.Discard, "", 0)), slack.OptionAPIURL(e.url)}
	if own {
		token, err := e.token(ctx, "app", "xapp-", app.AppToken())
		if err != nil {
			return nil, err
		}
		opts = append(opts, slack.OptionAppLevelToken(token))
	}
	return slack.New(bot, opts...), nil
}

// token reads a token. Anything else that is in its place is not sent anywhere.
func (e *ear) token(ctx context.Context, kind, prefix string, source control.Source) (string, error) {
	token, err := refOf(source).read(ctx)
	if err != nil {
		return "", fmt.Errorf("read the %s's token for Slack: %w", kind, err)
	}
	e.secrets.learn(token)
	if !strings.HasPrefix(token, prefix) {
		return "", fmt.Errorf("read the %s's token for Slack: what is there does not begin with %s; put the token there that the app's page in Slack shows", kind, prefix)
	}
	return token, nil
}
