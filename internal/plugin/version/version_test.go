package version_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plugin/version"
)

func TestConstraintsString(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		in   []string
		want string
	}{
		"none":            {nil, ""},
		"empty":           {[]string{"", " "}, ""},
		"exact":           {[]string{"1.2.3"}, "1.2.3"},
		"exact with sign": {[]string{"= 1.2.3"}, "1.2.3"},
		"short":           {[]string{">= 2"}, ">= 2.0.0"},
		"minor":           {[]string{"~> 2.1"}, "~> 2.1"},
		"major":           {[]string{"~> 2"}, "~> 2.0"},
		"patch":           {[]string{"~> 2.1.0"}, "~> 2.1.0"},
		"order":           {[]string{"< 3.0", ">= 1.0, != 2.0.0"}, ">= 1.0.0, != 2.0.0, < 3.0.0"},
		"repeated":        {[]string{">= 2.0", ">= 2.0.0"}, ">= 2.0.0"},
		"same version":    {[]string{"!= 1.0.0, <= 1.0.0, >= 1.0.0, > 1.0.0"}, "> 1.0.0, >= 1.0.0, <= 1.0.0, != 1.0.0"},
		"prerelease":      {[]string{"1.0.0-beta1"}, "1.0.0-beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := version.ParseConstraints(test.in...)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			again, err := version.ParseConstraints(c.String())
			if err != nil || again.String() != test.want {
				t.Errorf("read back as %q (%v)", again, err)
			}
		})
	}
}

func TestNewest(t *testing.T) {
	t.Parallel()
	var available []version.Version
	for _, text := range []string{"1.9.0", "1.10.0", "2.0.0-rc1", "1.2.0", "0.9.0"} {
		v, err := version.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		available = append(available, v)
	}
	for constraint, want := range map[string]string{
		"": "1.10.0", "< 1.10.0": "1.9.0", "~> 1.2.0": "1.2.0", "2.0.0-rc1": "2.0.0-rc1", ">= 2.0.0": "", "< 0.1.0": "",
	} {
		t.Run(constraint, func(t *testing.T) {
			t.Parallel()
			c, err := version.ParseConstraints(constraint)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := c.Newest(available)
			if ok != (want != "") || ok && got.String() != want {
				t.Errorf("got %s, %v, want %q", got, ok, want)
			}
			if ok && !c.Allows(got) {
				t.Errorf("%s is chosen, but not allowed", got)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", ">= ", "1.2.3.4", "=> 1.0"} {
		if _, err := version.ParseConstraints(text); err == nil {
			t.Errorf("constraint %q passed", text)
		}
	}
	for _, text := range []string{"", "v1.2.3", "1.2.x", "one"} {
		if _, err := version.Parse(text); err == nil {
			t.Errorf("version %q passed", text)
		}
	}
}
