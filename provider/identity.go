package provider

import (
	"fmt"
	"net/url"
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

// checkURL tells whether a URL may name a repository. Stores in memory may not:
// nobody else would see them.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "s3" && u.Scheme != "file":
		return fmt.Errorf("must be s3://BUCKET/PREFIX or file:///ABSOLUTE/PATH")
	case u.User != nil:
		return fmt.Errorf("must not hold credentials; they come from the environment, as for every AWS tool")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return fmt.Errorf("must not hold a fragment")
	case u.Scheme == "s3" && u.Host == "":
		return fmt.Errorf("must name a bucket, as in s3://BUCKET/PREFIX")
	case u.Scheme == "file" && (u.Host != "" || !strings.HasPrefix(u.Path, "/")):
		return fmt.Errorf("must name an absolute path with three slashes, as in file:///var/lib/towline")
	}
	return nil
}
