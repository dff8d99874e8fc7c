package states

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/parallel"
)

// decodeFile decodes the file's resources on their own, as many at once as there are cores:
// they are nearly all of it.
func decodeFile(data []byte) (*fileV4, error) {
	var file fileV4
	rest, resources, ok := splitFile(data)
	if !ok {
		return &file, json.Unmarshal(data, &file) // which says what is wrong, if anything is
	}
	if err := json.Unmarshal(rest, &file); err != nil {
		return nil, err
	}
	file.Resources = make([]fileResourceV4, len(resources))
	errs := make([]error, len(resources))
	parallel.Each(len(resources), func(i int) { errs[i] = decodeResource(resources[i], &file.Resources[i]) })
	return &file, cmp.Or(errs...)
}

// splitFile takes the encoded resources out of a state file, and tells whether it has just one list of them. If
// the rest and each of them are valid, then so is the file.
func splitFile(data []byte) (rest []byte, resources [][]byte, ok bool) {
	s := scanner{src: data}
	if !s.enter('{') {
		return nil, nil, false
	}
	for s.more() {
		name := s.key()
		if !strings.EqualFold(name, "resources") { // the decoder does not ask for the case
			s.value()
			continue
		}
		if rest != nil || !s.enter('[') {
			return nil, nil, false
		}
		begin := s.pos
		if resources, ok = s.elements(); !ok {
			return nil, nil, false
		}
		rest = slices.Concat(data[:begin], data[s.pos-1:])
	}
	return rest, resources, rest != nil
}

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
