package configs

import (
	"bytes"
	"maps"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/parallel"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// parsed is a file as far as it could be parsed; its body is nil if it could not at all.
type parsed struct {
	path  string
	src   []byte
	body  hcl.Body
	diags tfdiags.Diagnostics
}

// parseAll reads files of a directory and parses them, as many at once as there are
// cores. Modules may be called often: files that were parsed before are not parsed again.
func (l *loader) parseAll(dir string, names []string) []parsed {
	out := make([]parsed, len(names))
	parallel.Each(len(names), func(i int) {
		path := filepath.Join(dir, names[i])
		if known, ok := l.files[path]; ok {
			out[i] = parsed{path: path, body: known.Body}
			return
		}
		out[i] = parseFile(path)
	})
	for _, p := range out {
		l.keep(p)
	}
	return out
}

// keep remembers a parsed file.
func (l *loader) keep(p parsed) {
	if _, known := l.files[p.path]; !known && p.body != nil {
		l.files[p.path] = &hcl.File{Body: p.body, Bytes: p.src}
	}
}

// sources are the files parsed so far, by path.
func (l *loader) sources() map[string][]byte {
	out := make(map[string][]byte, len(l.files))
	for path, file := range l.files {
		out[path] = file.Bytes
	}
	return out
}

func parseFile(path string) parsed {
	src, err := readFile(path)
	if err != nil {
		return parsed{path: path, diags: unreadable(path, err)}
	}
	return parseText(path, src)
}

// parseText parses configuration in either of its forms.
func parseText(path string, src []byte) parsed {
	parse := parseHCL
	if strings.HasSuffix(path, ".json") {
		parse = parseJSON
	}
	body, hclDiags := parse(src, path)
	return parsed{path: path, src: src, body: body, diags: tfdiags.FromHCL(hclDiags)}
}

func parseJSON(src []byte, path string) (hcl.Body, hcl.Diagnostics) {
	if diags := bounds.HCLJSON(src, path); diags.HasErrors() {
		return nil, diags
	}
	file, diags := hcljson.Parse(src, path)
	return file.Body, diags
}

// parseHCL parses a long text in pieces, which takes less memory than all of its
// tokens. Only if that meets any problem it is looked at as a whole: what is said of the problem
// is to be true of the file.
func parseHCL(src []byte, path string) (hcl.Body, hcl.Diagnostics) {
	if pieces := bounds.Pieces(src); len(pieces) > 1 {
		if body := parsePieces(pieces, path); body != nil {
			return body, nil
		}
	}
	if diags := bounds.HCL(src, path); diags.HasErrors() {
		return nil, diags
	}
	file, diags := hclsyntax.ParseConfig(src, path, hcl.InitialPos)
	return file.Body, diags
}

// parsePieces returns the body that pieces have together, nil if there is any problem.
func parsePieces(pieces [][]byte, path string) hcl.Body {
	starts := make([]hcl.Pos, len(pieces))
	at := hcl.InitialPos
	for i, piece := range pieces {
		starts[i] = at
		at.Line += bytes.Count(piece, []byte("\n"))
		at.Byte += len(piece)
	}
	bodies := make([]*hclsyntax.Body, len(pieces))
	parallel.Each(len(pieces), func(i int) {
		if bounds.HCL(pieces[i], path).HasErrors() {
			return
		}
		file, diags := hclsyntax.ParseConfig(pieces[i], path, starts[i])
		if body, ok := file.Body.(*hclsyntax.Body); ok && len(diags) == 0 {
			bodies[i] = body
		}
	})
	return joined(bodies)
}

// joined makes one body of several, nil if one is missing or they set an argument twice.
func joined(bodies []*hclsyntax.Body) hcl.Body {
	out := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, Blocks: hclsyntax.Blocks{}}
	arguments := 0
	for i, body := range bodies {
		if body == nil {
			return nil
		}
		if i == 0 {
			out.SrcRange = body.SrcRange
		}
		arguments += len(body.Attributes)
		maps.Copy(out.Attributes, body.Attributes)
		out.Blocks = append(out.Blocks, body.Blocks...)
		out.SrcRange, out.EndRange = hcl.RangeBetween(out.SrcRange, body.SrcRange), body.EndRange
	}
	if arguments != len(out.Attributes) {
		return nil
	}
	return out
}
