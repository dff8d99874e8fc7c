package provider

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// identifier names a document in all repositories: URL#ENVIRONMENT/NAME. It is the
// id attribute and what import takes.
func identifier(repository, environment, name string) string {
	return repository + "#" + environment + "/" + name
}

// parseIdentifier is the reverse of identifier.
func parseIdentifier(text string) (repository, environment, name string, err error) {
	at := strings.LastIndex(text, "#")
	if at >= 0 {
		repository = text[:at]
		environment, name, _ = strings.Cut(text[at+1:], "/")
	}
	if checkURL(repository) != nil || control.ValidateName(environment) != nil || control.ValidateName(name) != nil {
		return "", "", "", fmt.Errorf("%q is not of the form URL#ENVIRONMENT/NAME, such as s3://bucket/towline?region=eu-central-1#prod/agent-1", text)
	}
	return repository, environment, name, nil
}

// schemes are those of stores that several machines reach.
var schemes = []string{"s3", "gs", "azblob", "file"}

// checkURL tells whether a URL may name a repository. Stores in memory may not:
// nobody else would see them.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || !slices.Contains(schemes, u.Scheme):
		return fmt.Errorf("must be s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, azblob://CONTAINER/PREFIX?account=NAME or file:///ABSOLUTE/PATH")
	case u.User != nil:
		return fmt.Errorf("must not hold credentials; they come from the environment, as for every tool of the store's vendor")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return fmt.Errorf("must not hold a fragment")
	case u.Scheme != "file" && u.Host == "":
		return fmt.Errorf("must name a bucket or container, as in %s://BUCKET/PREFIX", u.Scheme)
	case u.Scheme == "file" && (u.Host != "" || !strings.HasPrefix(u.Path, "/")):
		return fmt.Errorf("must name an absolute path with three slashes, as in file:///var/lib/towline")
	}
	return nil
}
