package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/hclfmt"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// Exit codes of fmt, as terraform has them.
const (
	exitFormatFailed = 2
	exitUnformatted  = 3
)

// maxFormatted bounds a file that is formatted.
const maxFormatted = 16 << 20

// formatter gives files their canonical form.
type formatter struct {
	app                                *app
	list, write, diff, check, recurses bool
	changed                            bool
}

func (a *app) fmtCommand() *command {
	flags := flag.NewFlagSet("fmt", flag.ContinueOnError)
	f := &formatter{app: a}
	flags.BoolVar(&f.list, "list", true, "list the files that are not formatted")
	flags.BoolVar(&f.write, "write", true, "write what is formatted back to the files")
	flags.BoolVar(&f.diff, "diff", false, "show what would be changed")
	flags.BoolVar(&f.check, "check", false, "write nothing, and exit with 3 if a file is not formatted")
	flags.BoolVar(&f.recurses, "recursive", false, "format files in folders below as well")
	noColor := flags.Bool("no-color", false, "no colours in the output")
	return &command{
		synopsis: "Give configuration files their canonical form", usage: "[options] [FILE|DIR|-]...", flags: flags,
		run: func(_ context.Context, args []string) int {
			a.color = a.color && !*noColor
			f.write = f.write && !f.check
			if len(args) == 0 {
				args = []string{"."}
			}
			var diags tfdiags.Diagnostics
			for _, arg := range args {
				diags = append(diags, f.format(arg)...)
			}
			switch {
			case a.show(diags):
				return exitFormatFailed
			case f.check && f.changed:
				return exitUnformatted
			}
			return exitOK
		},
	}
}

// format formats a file, a folder or standard input.
func (f *formatter) format(path string) tfdiags.Diagnostics {
	if path == "-" {
		return f.standardInput()
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return tfdiags.New(tfdiags.Error, "No file or directory at "+path, "Give files with configuration or variables, or folders that hold some.")
	case info.IsDir():
		return f.folder(filepath.Clean(path))
	case !formattable(path):
		return tfdiags.FromError("Only .tf, .tfvars, and .tftest.hcl files can be processed with terraform fmt", fmt.Errorf("%s is none of them", path))
	}
	return f.file(filepath.Clean(path))
}

func formattable(name string) bool {
	return slices.ContainsFunc([]string{".tf", ".tfvars", ".tftest.hcl", ".tfmock.hcl", ".tfquery.hcl"}, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

func (f *formatter) standardInput() tfdiags.Diagnostics {
	src, err := io.ReadAll(io.LimitReader(f.app.stdin, maxFormatted+1))
	if err == nil && len(src) > maxFormatted {
		err = errors.New("it is too large")
	}
	if err != nil {
		return tfdiags.FromError("Failed to read standard input", err)
	}
	f.list, f.write = false, false
	return f.source("<stdin>", src)
}

// folder formats the files of a folder, each in the order of their names.
func (f *formatter) folder(dir string) tfdiags.Diagnostics {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return tfdiags.FromError("Failed to read folder", err)
	}
	var diags tfdiags.Diagnostics
	for _, entry := range entries {
		name := entry.Name()
		hidden := strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#")
		switch path := filepath.Join(dir, name); {
		case hidden:
		case entry.IsDir() && f.recurses:
			diags = append(diags, f.folder(path)...)
		case !entry.IsDir() && formattable(name):
			diags = append(diags, f.file(path)...)
		}
	}
	return diags
}

func (f *formatter) file(path string) tfdiags.Diagnostics {
	src, err := bounds.ReadFile(path, maxFormatted)
	if err != nil {
		return tfdiags.FromError("Failed to read file", err)
	}
	return f.source(path, src)
}

// source formats what a file holds and tells of it as the flags say.
func (f *formatter) source(path string, src []byte) tfdiags.Diagnostics {
	f.app.sources[path] = src
	if hclDiags := bounds.HCL(src, path); hclDiags.HasErrors() {
		return tfdiags.FromHCL(hclDiags)
	}
	if _, hclDiags := hclsyntax.ParseConfig(src, path, hcl.InitialPos); hclDiags.HasErrors() {
		return tfdiags.FromHCL(hclDiags)
	}
	result := hclfmt.Format(src, path)
	if bytes.Equal(src, result) {
		if path == "<stdin>" && !f.check && !f.diff {
			f.app.printf("%s", result)
		}
		return nil
	}
	f.changed = true
	if f.list {
		f.app.printf("%s\n", path)
	}
	if f.diff {
		_, hunks, _ := bytes.Cut(diff.Diff("old/"+path, src, "new/"+path, result), []byte("\n")) // the first line names both files once more
		f.app.printf("%s", hunks)
	}
	if f.write {
		return tfdiags.FromError("Failed to write "+path, overwrite(path, result))
	}
	if !f.list && !f.diff && !f.check {
		f.app.printf("%s", result)
	}
	return nil
}

// overwrite replaces a file's content whole, and leaves its permissions as they are.
func overwrite(path string, content []byte) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".fmt-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
