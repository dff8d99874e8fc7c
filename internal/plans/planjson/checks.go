package planjson

import "github.com/towline/terraform-provider-towline/internal/states"

// checkDoc is the outcome of the conditions of one object of the configuration.
type checkDoc struct {
	Address   checkAddress       `json:"address"`
	Status    states.CheckStatus `json:"status"`
	Instances []checkInstance    `json:"instances,omitempty"`
}

type checkAddress struct {
	ToDisplay string `json:"to_display"`
	Kind      string `json:"kind"`
	Module    string `json:"module,omitempty"`
	Mode      string `json:"mode,omitempty"`
	Type      string `json:"type,omitempty"`
	Name      string `json:"name,omitempty"`
}

type checkInstance struct {
	Address  checkInstanceAddress `json:"address"`
	Status   states.CheckStatus   `json:"status"`
	Problems []checkProblem       `json:"problems,omitempty"`
}

type checkInstanceAddress struct {
	ToDisplay string `json:"to_display"`
	Module    string `json:"module,omitempty"`
	Key       any    `json:"instance_key,omitempty"`
}

type checkProblem struct {
	Message string `json:"message"`
}

// checks encodes outcomes, which are ordered by address.
func checks(results []states.CheckResult) []checkDoc {
	out := make([]checkDoc, 0, len(results))
	for i := range results {
		r := &results[i]
		doc := checkDoc{Address: checkAddr(r), Status: r.Status}
		for j := range r.Objects {
			o := &r.Objects[j]
			inst := checkInstance{Status: o.Status, Address: checkInstanceAddress{ToDisplay: r.ObjectAddr(o), Module: o.Module.String(), Key: index(o.Key)}}
			for _, message := range o.Messages {
				inst.Problems = append(inst.Problems, checkProblem{message})
			}
			doc.Instances = append(doc.Instances, inst)
		}
		out = append(out, doc)
	}
	return out
}

func checkAddr(r *states.CheckResult) checkAddress {
	out := checkAddress{ToDisplay: r.Addr(), Kind: string(r.Kind), Module: r.Module.String(), Name: r.Name}
	switch r.Kind {
	case states.CheckResource:
		out.Mode, out.Type, out.Name = modeName(r.Resource.Mode), r.Resource.Type, r.Resource.Name
	case states.CheckOutput:
		out.Kind = "output_value"
	case states.CheckVariable, states.CheckBlock:
	}
	return out
}
