package states

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
)

// CheckStatus is the outcome of conditions.
type CheckStatus string

// The outcomes, the worst last but for unknown, which only hides a pass.
const (
	CheckPass    CheckStatus = "pass"
	CheckUnknown CheckStatus = "unknown"
	CheckFail    CheckStatus = "fail"
	CheckError   CheckStatus = "error"
)

// Worse returns the one of two outcomes that stands for both.
func (s CheckStatus) Worse(other CheckStatus) CheckStatus {
	order := []CheckStatus{CheckPass, CheckUnknown, CheckFail, CheckError}
	if slices.Index(order, other) > slices.Index(order, s) {
		return other
	}
	return s
}

// CheckKind is what conditions belong to, as state files name it.
type CheckKind string

// The kinds.
const (
	CheckResource CheckKind = "resource"
	CheckOutput   CheckKind = "output"
	CheckVariable CheckKind = "var"
	CheckBlock    CheckKind = "check"
)

// CheckResult is the outcome of the conditions of one object of the configuration.
type CheckResult struct {
	Kind   CheckKind
	Module addrs.Module
	// Resource is set for resources, Name for all others.
	Resource addrs.Resource
	Name     string
	Status   CheckStatus
	// Objects are the instances, as far as they are known.
	Objects []CheckObject
}

// CheckObject is the outcome for one instance.
type CheckObject struct {
	Module   addrs.ModuleInstance
	Key      addrs.InstanceKey
	Status   CheckStatus
	Messages []string
}

// Addr returns the address in the configuration.
func (r *CheckResult) Addr() string { return join(r.Module.String(), r.local("")) }

// ObjectAddr returns the address of an instance.
func (r *CheckResult) ObjectAddr(o *CheckObject) string {
	return join(o.Module.String(), r.local(o.Key.String()))
}

func (r *CheckResult) local(key string) string {
	if r.Kind == CheckResource {
		return r.Resource.String() + key
	}
	return string(r.Kind) + "." + r.Name
}

func join(module, local string) string {
	if module == "" {
		return local
	}
	return module + "." + local
}

// The form of check_results in a state file.
type fileCheck struct {
	Kind    CheckKind         `json:"object_kind"`
	Addr    string            `json:"config_addr"`
	Status  CheckStatus       `json:"status"`
	Objects []fileCheckObject `json:"objects"`
}

type fileCheckObject struct {
	Addr     string      `json:"object_addr"`
	Status   CheckStatus `json:"status"`
	Messages []string    `json:"failure_messages,omitempty"`
}

// SortChecks orders outcomes and their instances by address.
func SortChecks(results []CheckResult) {
	slices.SortFunc(results, func(a, b CheckResult) int { return cmp.Compare(a.Addr(), b.Addr()) })
	for i := range results {
		r := &results[i]
		slices.SortFunc(r.Objects, func(a, b CheckObject) int { return cmp.Compare(r.ObjectAddr(&a), r.ObjectAddr(&b)) })
	}
}

// EncodeChecks encodes outcomes as check_results in a state file; none give nil.
func EncodeChecks(results []CheckResult) ([]byte, error) {
	if len(results) == 0 {
		return nil, nil
	}
	out := make([]fileCheck, 0, len(results))
	for i := range results {
		r := &results[i]
		entry := fileCheck{Kind: r.Kind, Addr: r.Addr(), Status: r.Status}
		for j := range r.Objects {
			o := &r.Objects[j]
			entry.Objects = append(entry.Objects, fileCheckObject{Addr: r.ObjectAddr(o), Status: o.Status, Messages: o.Messages})
		}
		out = append(out, entry)
	}
	return json.Marshal(out)
}

// DecodeChecks decodes what [EncodeChecks] returned. Outcomes of kinds that are
// not known are left out.
func DecodeChecks(raw []byte) ([]CheckResult, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var in []fileCheck
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("decode check results: %w", err)
	}
	var out []CheckResult
	for _, entry := range in {
		r := CheckResult{Kind: entry.Kind, Status: entry.Status}
		module, resource, err := r.parse(entry.Addr)
		if err != nil {
			return nil, err
		}
		if !slices.Contains([]CheckKind{CheckResource, CheckOutput, CheckVariable, CheckBlock}, r.Kind) {
			continue
		}
		r.Module, r.Resource = module.Module(), resource.Resource
		for _, o := range entry.Objects {
			module, instance, err := r.parse(o.Addr)
			if err != nil {
				return nil, err
			}
			r.Objects = append(r.Objects, CheckObject{Module: module, Key: instance.Key, Status: o.Status, Messages: o.Messages})
		}
		out = append(out, r)
	}
	return out, nil
}

// parse reads an address; for all but resources it sets the name.
func (r *CheckResult) parse(text string) (addrs.ModuleInstance, addrs.ResourceInstance, error) {
	if r.Kind == CheckResource {
		addr, diags := addrs.ParseResourceInstance(text)
		return addr.Module, addr, diags.Err()
	}
	path := ""
	rest := text
	if i := strings.LastIndex(text, "."+string(r.Kind)+"."); i >= 0 {
		path, rest = text[:i], text[i+1:]
	}
	_, r.Name, _ = strings.Cut(rest, ".")
	module, diags := addrs.ParseModuleInstance(path)
	return module, addrs.ResourceInstance{}, diags.Err()
}
