package modulesource

import "testing"

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"./a":                               "./a",
		"./a/../b/":                         "./b",
		"../":                               "./..",
		"../a":                              "../a",
		"hashicorp/consul/aws":              "registry.terraform.io/hashicorp/consul/aws",
		"example.com/a/b/c//sub":            "example.com/a/b/c//sub",
		"github.com/a/b":                    "git::https://github.com/a/b.git",
		"github.com/a/b//sub?ref=v1":        "git::https://github.com/a/b.git//sub?ref=v1",
		"bitbucket.org/a/b//c?ref=d":        "git::https://bitbucket.org/a/b.git//c?ref=d",
		"bitbucket.org/a":                   "",
		"git@github.com:a/b.git":            "git::ssh://git@github.com/a/b.git",
		"git::https://example.com/a.git":    "git::https://example.com/a.git",
		"https://example.com/a.zip//b/c":    "https://example.com/a.zip//b/c",
		"/srv/modules/a":                    "file:///srv/modules/a",
		"s3::https://s3.amazonaws.com/b/k":  "s3::https://s3.amazonaws.com/b/k",
		"git::file:///a//sub/../other?x=y":  "git::file:///a//other?x=y",
		"nope":                              "",
		"":                                  "",
		"git::https://example.com/a//../..": "",
		"https://example.com/a.zip//../b":   "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := Parse(text, false)
			if (err != nil) != (want == "") || (err == nil && got.String() != want) {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
	if _, err := Parse("./a", true); err == nil {
		t.Error("a path has a version")
	}
}
