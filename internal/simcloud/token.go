package simcloud

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// Token is a bearer token and the namespaces it reaches.
type Token struct {
	secret string
	reach  []namespace
}

// namespace is one ENVIRONMENT/SERVICE; "*" stands for any.
type namespace struct{ environment, service string }

// ParseToken reads TOKEN=ENVIRONMENT/SERVICE,... where * stands for any environment or service.
func ParseToken(text string) (Token, error) {
	secret, list, ok := strings.Cut(text, "=")
	if !ok || secret == "" || list == "" {
		return Token{}, fmt.Errorf("a token must be written TOKEN=ENVIRONMENT/SERVICE,ENVIRONMENT/*")
	}
	token := Token{secret: secret}
	for item := range strings.SplitSeq(list, ",") {
		environment, service, ok := strings.Cut(item, "/")
		if !ok || !validReach(environment) || !validReach(service) {
			return Token{}, fmt.Errorf("namespace %q of a token must be written ENVIRONMENT/SERVICE or ENVIRONMENT/*", item)
		}
		token.reach = append(token.reach, namespace{environment, service})
	}
	return token, nil
}

func validReach(part string) bool { return part == "*" || cloudapi.ValidName(part) }

// fingerprint names the token in the event log.
func (t *Token) fingerprint() string {
	if t.secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(t.secret))
	return hex.EncodeToString(sum[:4])
}

func (t *Token) reaches(ref cloudapi.Ref) bool {
	for _, n := range t.reach {
		if (n.environment == "*" || n.environment == ref.Environment) && (n.service == "*" || n.service == ref.Service) {
			return true
		}
	}
	return false
}

// anyone is the token of every caller of a cloud without tokens.
var anyone = &Token{reach: []namespace{{"*", "*"}}}
