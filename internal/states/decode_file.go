package states

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// decodeResource is [json.Unmarshal] for resources as they are usually written. All others are left to that.
func decodeResource(raw []byte, r *fileResourceV4) error {
	if json.Valid(raw) {
		s := scanner{src: raw}
		if s.resource(r) {
			return nil
		}
		*r = fileResourceV4{}
	}
	return json.Unmarshal(raw, r)
}

// resource takes a resource, and tells whether it is written as usual, as all that follow.
func (s *scanner) resource(r *fileResourceV4) bool {
	texts := map[string]*string{"module": &r.Module, "mode": &r.Mode, "type": &r.Type, "name": &r.Name, "each": &r.Each, "provider": &r.Provider}
	if !s.enter('{') {
		return false
	}
	for s.more() {
		name := s.key()
		field, known := texts[name]
		switch {
		case known && s.peek() == '"':
			*field = s.text()
		case name == "instances" && r.Instances == nil && s.enter('['):
			r.Instances = []fileInstanceV4{}
			for s.more() {
				var in fileInstanceV4
				if !s.instance(&in) {
					return false
				}
				r.Instances = append(r.Instances, in)
			}
		default:
			return false
		}
	}
	return true
}

func (s *scanner) instance(in *fileInstanceV4) bool {
	if !s.enter('{') {
		return false
	}
	for s.more() {
		if !s.instanceField(in, s.key()) {
			return false
		}
	}
	return true
}

func (s *scanner) instanceField(in *fileInstanceV4, name string) bool {
	first, err := s.peek(), error(nil)
	switch {
	case name == "attributes":
		in.Attributes = bytes.Clone(s.value())
	case name == "sensitive_attributes":
		in.SensitiveAttributes = bytes.Clone(s.value())
	case name == "dependencies" && first == '[':
		return s.texts(&in.Dependencies)
	case name == "status" && first == '"':
		in.Status = s.text()
	case name == "deposed" && first == '"':
		in.Deposed = s.text()
	case name == "index_key" && first == '"':
		in.IndexKey = s.text()
	case name == "index_key" && first >= '0' && first <= '9':
		in.IndexKey, err = strconv.ParseFloat(string(s.value()), 64)
	case name == "schema_version":
		in.SchemaVersion, err = strconv.ParseInt(string(s.value()), 10, 64)
	case name == "private" && first == '"':
		in.Private, err = base64.StdEncoding.DecodeString(s.text())
	case name == "create_before_destroy" && (first == 't' || first == 'f'):
		in.CreateBeforeDestroy = first == 't'
		s.value()
	default:
		return false
	}
	return err == nil
}

// texts takes a list of strings.
func (s *scanner) texts(out *[]string) bool {
	*out = []string{}
	for s.pos++; s.more(); {
		if s.peek() != '"' {
			return false
		}
		*out = append(*out, s.text())
	}
	return true
}
