package simcloud

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
)

// maxActor bounds what a caller may write into the event log about itself.
const maxActor = 128

func authorOf(r *http.Request) author {
	actor := r.Header.Get(cloudapi.ActorHeader)
	return author{token: tokenOf(r.Context()).fingerprint(), actor: actor[:min(len(actor), maxActor)]}
}

func etag(e *entry) string { return strconv.Quote(strconv.FormatInt(e.object.Revision, 10)) }

// readAttributes decodes a body of the form {"attributes": {...}}.
func readAttributes(r *http.Request) (map[string]any, error) {
	decoder := json.NewDecoder(http.MaxBytesReader(nil, r.Body, cloudapi.MaxBody))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	var body struct {
		Attributes map[string]any `json:"attributes"`
	}
	err := decoder.Decode(&body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refused(http.StatusRequestEntityTooLarge, "the body must be at most %d bytes", cloudapi.MaxBody)
	case err != nil:
		return nil, refused(http.StatusBadRequest, "the body must be JSON of the form {\"attributes\": {}}")
	case body.Attributes == nil:
		return nil, refused(http.StatusBadRequest, "the body has no attributes")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, refused(http.StatusBadRequest, "the body goes on after its JSON")
	}
	return body.Attributes, nil
}

func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a caller that has gone cannot be told so
}

func answerJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, `{"message":"the answer cannot be encoded"}`, http.StatusInternalServerError)
		return
	}
	answer(w, status, body)
}

func answerError(w http.ResponseWriter, err error) {
	var known *refusal
	if errors.As(err, &known) {
		answerJSON(w, known.status, known.body)
		return
	}
	refuse(w, http.StatusInternalServerError, err.Error())
}

func refuse(w http.ResponseWriter, status int, message string) {
	answerJSON(w, status, cloudapi.Refusal{Message: message})
}
