package bundle

import (
	"bufio"
	"bytes"
	"fmt"
	"path"
	"strings"
)

// ignoreFile lists more patterns of what to leave out.
const ignoreFile = ".terraformignore"

const lockFile = ".terraform.lock.hcl"

// rule is one line of the ignore file.
type rule struct {
	pattern  string
	keep     bool // the line began with "!"
	anchored bool // the pattern holds a slash, so it starts at the top
	folder   bool // the pattern ended in a slash
}

// parseIgnore reads patterns, one a line: a name, or a path from the top, with *
// and ? as in a shell, "/" at the end for folders only, "!" in front for what to
// keep after all. The last line that matches decides.
func parseIgnore(data []byte) ([]rule, error) {
	var rules []rule
	lines := bufio.NewScanner(bytes.NewReader(data))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r := rule{keep: strings.HasPrefix(line, "!"), folder: strings.HasSuffix(line, "/")}
		line = strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(line, "!"), "/"), "**/")
		r.anchored = strings.Contains(line, "/")
		r.pattern = strings.TrimPrefix(line, "/")
		if _, err := path.Match(r.pattern, "x"); err != nil || strings.Contains(r.pattern, "**") {
			return nil, fmt.Errorf("%s, line %d: the pattern %q is not understood; use names or paths with * and ?", ignoreFile, number, line)
		}
		rules = append(rules, r)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", ignoreFile, err)
	}
	return rules, nil
}

// leaveOut tells whether a path is not packed. Hidden files are left out unless a
// rule keeps them: they are tools' settings, and often secrets.
func leaveOut(rules []rule, name string, folder bool) bool {
	base := path.Base(name)
	if forbidden(base) {
		return true
	}
	out := strings.HasPrefix(base, ".") && name != lockFile
	for _, r := range rules {
		if r.matches(name, base, folder) {
			out = !r.keep
		}
	}
	return out
}

func (r rule) matches(name, base string, folder bool) bool {
	if r.folder && !folder {
		return false
	}
	subject := base
	if r.anchored {
		subject = name
	}
	ok, err := path.Match(r.pattern, subject)
	return err == nil && ok
}
