package simcloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// routes is the cloud's surface.
func routes(s *store, g *gate) http.Handler {
	a := &api{store: s}
	gated := http.NewServeMux()
	gated.HandleFunc("GET /v1/objects", a.listObjects)
	gated.HandleFunc("GET /v1/events", a.listEvents)
	const path = "/v1/namespaces/{environment}/{service}/{kind}/{name}"
	gated.HandleFunc("GET "+path, a.object(a.getObject))
	gated.HandleFunc("PUT "+path, a.object(a.putObject))
	gated.HandleFunc("PATCH "+path, a.object(a.patchObject))
	gated.HandleFunc("DELETE "+path, a.object(a.deleteObject))

	all := http.NewServeMux()
	all.HandleFunc("GET /v1/health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	all.Handle("/", g.wrap(gated))
	return all
}

type api struct{ store *store }

// refusal is an error with an answer for the caller.
type refusal struct {
	status int
	body   cloudapi.Refusal
}

func (r *refusal) Error() string { return r.body.Message }

func refused(status int, format string, args ...any) error {
	return &refusal{status, cloudapi.Refusal{Message: fmt.Sprintf(format, args...)}}
}

func invalid(problems []cloudapi.FieldError) error {
	return &refusal{http.StatusUnprocessableEntity, cloudapi.Refusal{Message: "the object is not valid", Fields: problems}}
}

// object checks the reference and the token's reach before the handler sees the request.
func (a *api) object(handle func(*http.Request, cloudapi.Ref) (*entry, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ref := cloudapi.Ref{
			Environment: r.PathValue("environment"), Service: r.PathValue("service"),
			Kind: r.PathValue("kind"), Name: r.PathValue("name"),
		}
		e, err := a.checked(r, ref, handle)
		switch {
		case err != nil:
			answerError(w, err)
		case e == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("ETag", etag(e))
			answer(w, http.StatusOK, e.encoded)
		}
	}
}

func (a *api) checked(r *http.Request, ref cloudapi.Ref, handle func(*http.Request, cloudapi.Ref) (*entry, error)) (*entry, error) {
	if problems := ref.Check(); problems != nil {
		return nil, invalid(problems)
	}
	if !tokenOf(r.Context()).reaches(ref) {
		return nil, refused(http.StatusForbidden, "the token does not reach namespace %s/%s", ref.Environment, ref.Service)
	}
	return handle(r, ref)
}

func (a *api) getObject(_ *http.Request, ref cloudapi.Ref) (*entry, error) {
	if e := a.store.get(ref); e != nil {
		return e, nil
	}
	return nil, notFound(ref)
}

func (a *api) deleteObject(r *http.Request, ref cloudapi.Ref) (*entry, error) {
	return a.store.write(ref, authorOf(r), func(before *entry) (draft, error) {
		if before == nil {
			return draft{}, notFound(ref)
		}
		return draft{}, checkConditions(r, before)
	})
}

// putObject makes the object what the body says, whole.
func (a *api) putObject(r *http.Request, ref cloudapi.Ref) (*entry, error) {
	body, err := readAttributes(r)
	if err != nil {
		return nil, err
	}
	return a.store.write(ref, authorOf(r), func(before *entry) (draft, error) {
		if err := checkConditions(r, before); err != nil {
			return draft{}, err
		}
		return validDraft(ref, before, body)
	})
}

// patchObject changes the attributes that the body names; null takes one away.
func (a *api) patchObject(r *http.Request, ref cloudapi.Ref) (*entry, error) {
	body, err := readAttributes(r)
	if err != nil {
		return nil, err
	}
	return a.store.write(ref, authorOf(r), func(before *entry) (draft, error) {
		if before == nil {
			return draft{}, notFound(ref)
		}
		if err := checkConditions(r, before); err != nil {
			return draft{}, err
		}
		merged := make(map[string]any, len(body))
		for name, value := range before.object.Attributes {
			merged[name] = value
		}
		for name, value := range body {
			merged[name] = value
		}
		return validDraft(ref, before, merged)
	})
}

func notFound(ref cloudapi.Ref) error {
	return refused(http.StatusNotFound, "there is no object %s", ref)
}

// checkConditions honours If-None-Match: *, If-Match: * and If-Match: REVISION.
func checkConditions(r *http.Request, before *entry) error {
	if r.Header.Get("If-None-Match") == "*" && before != nil {
		return refused(http.StatusPreconditionFailed, "object %s exists", before.object.Ref)
	}
	want := r.Header.Get("If-Match")
	switch {
	case want == "" || want == "*" && before != nil:
		return nil
	case before == nil:
		return refused(http.StatusPreconditionFailed, "the object does not exist")
	case want != etag(before):
		return refused(http.StatusPreconditionFailed, "object %s is at revision %d", before.object.Ref, before.object.Revision)
	}
	return nil
}

// validDraft checks the attributes by themselves and as a change of what is there.
func validDraft(ref cloudapi.Ref, before *entry, attributes map[string]any) (draft, error) {
	kind, ok := cloudapi.KindNamed(ref.Kind)
	if !ok {
		return draft{}, notFound(ref)
	}
	normal, problems := kind.Normalise(attributes)
	if len(problems) == 0 && before != nil {
		problems = checkChange(kind, before.object.Attributes, normal)
	}
	if len(problems) > 0 {
		return draft{}, invalid(problems)
	}
	return draft{normal}, nil
}

func checkChange(kind *cloudapi.Kind, before, after map[string]any) []cloudapi.FieldError {
	var problems []cloudapi.FieldError
	for _, attribute := range kind.Attributes {
		if attribute.Replaces && !reflect.DeepEqual(before[attribute.Name], after[attribute.Name]) {
			problems = append(problems, cloudapi.FieldError{Field: attribute.Name, Message: "cannot be changed; delete the object and create another"})
		}
	}
	if before["immutable"] == true && !reflect.DeepEqual(before["data"], after["data"]) {
		problems = append(problems, cloudapi.FieldError{Field: "data", Message: "cannot be changed while the object is immutable"})
	}
	return problems
}

func (a *api) listObjects(w http.ResponseWriter, r *http.Request) {
	keep := filter(tokenOf(r.Context()), r.URL.Query())
	list := cloudapi.ObjectList{Objects: []json.RawMessage{}}
	for _, e := range a.store.list(keep) {
		list.Objects = append(list.Objects, e.encoded)
	}
	answerJSON(w, http.StatusOK, list)
}

func (a *api) listEvents(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	after, afterErr := wholeNumber(query.Get("after"), 0)
	limit, limitErr := wholeNumber(query.Get("limit"), cloudapi.MaxPage)
	if err := errors.Join(afterErr, limitErr); err != nil {
		answerError(w, refused(http.StatusBadRequest, "after and limit must be whole numbers"))
		return
	}
	keep := filter(tokenOf(r.Context()), query)
	answerJSON(w, http.StatusOK, a.store.eventsAfter(after, int(min(max(limit, 1), cloudapi.MaxPage)), keep))
}

// filter keeps what the token reaches and the query names.
func filter(token *Token, query url.Values) func(cloudapi.Ref) bool {
	named := func(key, value string) bool { return !query.Has(key) || query.Get(key) == value }
	return func(ref cloudapi.Ref) bool {
		return token.reaches(ref) && named("environment", ref.Environment) && named("service", ref.Service) &&
			named("kind", ref.Kind) && named("name", ref.Name)
	}
}

func wholeNumber(text string, fallback int64) (int64, error) {
	if text == "" {
		return fallback, nil
	}
	return strconv.ParseInt(text, 10, 64)
}
