package control

import (
	"strings"
	"testing"
)

func TestMatchAddress(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pattern, addr string
		want          bool
	}{
		"everything":                     {"**", `module.a["x.y"].aws_vpc.b[0]`, true},
		"exact":                          {"aws_vpc.b", "aws_vpc.b", true},
		"no key means all instances":     {"aws_vpc.b", "aws_vpc.b[3]", true},
		"key means that instance":        {"aws_vpc.b[3]", "aws_vpc.b[4]", false},
		"star stays in its step":         {"*.b", "module.m.aws_vpc.b", false},
		"star inside a step":             {"aws_*.b*", "aws_vpc.blue", true},
		"double star at the front":       {"**.aws_vpc.b", "module.m.module.n.aws_vpc.b", true},
		"double star for no step":        {"**.aws_vpc.b", "aws_vpc.b", true},
		"below a module":                 {"module.net.**", `module.net["eu"].aws_vpc.b`, true},
		"one module instance":            {`module.net["eu"].**`, `module.net["us"].aws_vpc.b`, false},
		"dots in keys are no steps":      {`module.net["a.b"].**`, `module.net["a.b"].aws_vpc.b`, true},
		"star for a key":                 {`aws_vpc.b[*]`, `aws_vpc.b["x"]`, true},
		"data sources are named as such": {"aws_vpc.b", "data.aws_vpc.b", false},
		"prefix is no match":             {"aws_vpc.b", "aws_vpc.bb", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := MatchAddress(test.pattern, test.addr); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestMatchingHostilePatternsEnds(t *testing.T) {
	t.Parallel()
	pattern := strings.Repeat("**.a*a*a*a.", 200) + "b"
	if MatchAddress(pattern, strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaa.", 200)+"c") {
		t.Error("matched")
	}
}
