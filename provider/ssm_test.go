package provider_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// ssm is the part of AWS's parameter store that the AWS provider needs for one parameter.
type ssm struct {
	url string
	mu  sync.Mutex
	// parameters by name.
	parameters map[string]map[string]any
}

func newSSM(t *testing.T) *ssm {
	s := &ssm{parameters: map[string]map[string]any{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *ssm) value(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, _ := s.parameters[name]["Value"].(string)
	return text
}

func (s *ssm) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parameters, name)
}

// ServeHTTP answers AWS's JSON protocol, whose operation is in a header.
func (s *ssm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name, _ := in["Name"].(string)
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var out any
	switch operation {
	case "PutParameter":
		in["Version"], in["DataType"], in["ARN"] = 1, "text", "arn:aws:ssm:eu-central-1:123456789012:parameter"+name
		s.parameters[name] = in
		out = map[string]any{"Version": 1, "Tier": "Standard"}
	case "GetParameter":
		if s.parameters[name] == nil {
			w.Header().Set("X-Amzn-ErrorType", "ParameterNotFound")
			w.WriteHeader(http.StatusBadRequest)
			out = map[string]any{"__type": "ParameterNotFound"}
			break
		}
		out = map[string]any{"Parameter": s.parameters[name]}
	case "DescribeParameters":
		var list []any
		for _, parameter := range s.parameters {
			list = append(list, map[string]any{"Name": parameter["Name"], "Type": parameter["Type"], "Version": 1, "Tier": "Standard", "DataType": "text", "ARN": parameter["ARN"]})
		}
		out = map[string]any{"Parameters": list}
	case "ListTagsForResource":
		out = map[string]any{"TagList": []any{}}
	case "DeleteParameter":
		delete(s.parameters, name)
		out = map[string]any{}
	default:
		w.WriteHeader(http.StatusNotImplemented)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(out) // a caller that has gone cannot be told so
}
