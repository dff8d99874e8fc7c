package lang

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	homedir "github.com/mitchellh/go-homedir"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// maxFileSize bounds what functions read from one file, in bytes.
const maxFileSize = 256 << 20

// resolve returns a path as functions mean it: ~ is the user's home, and what is
// relative begins at the base directory.
func resolve(baseDir, path string) (string, error) {
	expanded, err := homedir.Expand(path)
	if err != nil {
		return "", fmt.Errorf("expand ~: %w", err)
	}
	if !filepath.IsAbs(expanded) {
		expanded = filepath.Join(baseDir, expanded)
	}
	return filepath.Clean(expanded), nil
}

func readBounded(baseDir, path string) ([]byte, error) {
	full, err := resolve(baseDir, path)
	if err != nil {
		return nil, err
	}
	data, err := bounds.ReadFile(full, maxFileSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %q; functions read only files that come with the configuration, so take what a resource makes from an attribute of that resource", path)
	}
	return data, err
}

// fileFunc returns a file's content, as text or in base64.
func fileFunc(baseDir string, asBase64 bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			data, err := readBounded(baseDir, args[0].AsString())
			switch {
			case err != nil:
				return cty.UnknownVal(cty.String), function.NewArgError(0, err)
			case asBase64:
				return cty.StringVal(base64.StdEncoding.EncodeToString(data)), nil
			case !utf8.Valid(data):
				return cty.UnknownVal(cty.String), fmt.Errorf("%q is not valid UTF-8; read it with filebase64, or take its hash with a function such as filesha256", args[0].AsString())
			default:
				return cty.StringVal(string(data)), nil
			}
		},
	})
}

// fileExistsFunc tells whether there is a regular file.
func fileExistsFunc(baseDir string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			full, err := resolve(baseDir, args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.Bool), err
			}
			info, err := os.Stat(full)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return cty.False, nil
			case err != nil:
				return cty.UnknownVal(cty.Bool), err
			case !info.Mode().IsRegular():
				return cty.UnknownVal(cty.Bool), fmt.Errorf("%q is there, but it is no file", args[0].AsString())
			default:
				return cty.True, nil
			}
		},
	})
}

// ofFile turns a function of a string into one of a file's bytes.
func ofFile(baseDir string, hash func(data []byte) string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			data, err := readBounded(baseDir, args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(hash(data)), nil
		},
	})
}
