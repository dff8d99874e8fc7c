package remote

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/objstore"
)

// Parameter is a kind of value in a URL's query.
type Parameter int

const (
	// Text is any value.
	Text Parameter = iota
	// Flag is true or false; false is the same as leaving it out.
	Flag
	// Endpoint is the URL of a server.
	Endpoint
)

// Form is what the URLs of one kind of store look like.
type Form struct {
	// Scheme is the part before "://"; Bucket names the part after it.
	Scheme, Bucket string
	// Credentials says where they come from, since a URL must not hold any.
	Credentials string
	Parameters  map[string]Parameter
}

// Location is what a store's URL says.
type Location struct {
	Bucket, Prefix string
	scheme         string
	parameters     map[string]string
}

// Parse reads a URL of a form. The error quotes no secret.
func Parse(rawURL string, form Form) (Location, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return Location{}, fmt.Errorf("the URL cannot be parsed") // the error may quote a secret
	}
	at := Location{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), scheme: form.Scheme, parameters: map[string]string{}}
	switch {
	case u.Scheme != form.Scheme || at.Bucket == "":
		return Location{}, fmt.Errorf("the URL must have the form %s://%s/PREFIX", form.Scheme, form.Bucket)
	case u.User != nil:
		return Location{}, fmt.Errorf("the URL must not hold credentials; use %s", form.Credentials)
	}
	if at.Prefix != "" {
		if err := objstore.ValidateKey(at.Prefix); err != nil {
			return Location{}, fmt.Errorf("the URL's prefix is not usable: %w", err)
		}
	}
	for name, values := range u.Query() {
		if err := at.setParameter(form, name, values[len(values)-1]); err != nil {
			return Location{}, err
		}
	}
	return at, nil
}

func (at *Location) setParameter(form Form, name, value string) error {
	kind, known := form.Parameters[name]
	if !known {
		return fmt.Errorf("the URL's parameter %q is not known; there are %s", name, strings.Join(slices.Sorted(maps.Keys(form.Parameters)), ", "))
	}
	switch kind {
	case Endpoint:
		endpoint, err := url.Parse(value)
		if err != nil || endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" || endpoint.User != nil {
			return fmt.Errorf("the %s must be a URL such as https://storage.example.com, without credentials", name)
		}
	case Flag:
		set, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%s must be true or false", name)
		}
		value = map[bool]string{true: "true"}[set]
	case Text:
	}
	if value != "" {
		at.parameters[name] = value
	}
	return nil
}

// Parameter returns a parameter's value, "" if it is not set.
func (at Location) Parameter(name string) string { return at.parameters[name] }

// Flag tells whether a parameter is true.
func (at Location) Flag(name string) bool { return at.parameters[name] == "true" }

// URL returns the URL that opens the store again.
func (at Location) URL() string {
	query := url.Values{}
	for name, value := range at.parameters {
		query.Set(name, value)
	}
	u := url.URL{Scheme: at.scheme, Host: at.Bucket, RawQuery: query.Encode()}
	if at.Prefix != "" {
		u.Path = "/" + at.Prefix
	}
	return u.String()
}

// Name is the name in the bucket of the object under a key, and of a prefix of keys.
func (at Location) Name(key string) string {
	if at.Prefix == "" {
		return key
	}
	return at.Prefix + "/" + key
}

// Key is the reverse of [Location.Name]; ok is false for the names of folders that
// consoles make and of what others put there, which no key can be.
func (at Location) Key(name string) (key string, ok bool) {
	key = strings.TrimPrefix(name, at.Name(""))
	return key, objstore.ValidateKey(key) == nil
}
