package tfdiags_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		"read state: it is missing":    "Read state: it is missing.",
		"what now?":                    "What now?",
		"éclair is gone":               "Éclair is gone.",
		"timestamp: it has expired.":   "Timestamp: it has expired.",
		"environments/a/b.json: gone":  "environments/a/b.json: gone.",
		"aws_instance.a: not there":    "aws_instance.a: not there.",
		"timeouts.create is no length": "timeouts.create is no length.",
	} {
		if got := tfdiags.Sentence(text); got != want {
			t.Errorf("Sentence(%q) is %q, want %q", text, got, want)
		}
	}
}
