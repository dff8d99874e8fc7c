package lang

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/text/encoding/ianaindex"
)

// textTest makes a function of two strings that answers yes or no. The known
// prefix of an unknown first argument may decide.
func textTest(first, second string, test func(a, b string) bool, unknown func(prefix, b string) (bool, bool)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: first, Type: cty.String, AllowUnknown: true}, {Name: second, Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder {
			return b.NotNull()
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].IsKnown() {
				return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
			}
			if unknown != nil {
				if answer, decided := unknown(args[0].Range().StringPrefix(), args[1].AsString()); decided {
					return cty.BoolVal(answer), nil
				}
			}
			return cty.UnknownVal(cty.Bool), nil
		},
	})
}

var (
	suffixFunc       = textTest("str", "suffix", strings.HasSuffix, nil)
	containsTextFunc = textTest("str", "substr", strings.Contains, nil)
	prefixFunc       = textTest("str", "prefix", strings.HasPrefix, func(known, prefix string) (answer, decided bool) {
		if strings.HasPrefix(known, prefix) {
			return true, true
		}
		n := min(len(known), len(prefix))
		return false, known[:n] != prefix[:n]
	})
)

// replaceFunc replaces a substring, or a regular expression in slashes.
var replaceFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "str", Type: cty.String}, {Name: "substr", Type: cty.String}, {Name: "replace", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		str, substr, replace := args[0].AsString(), args[1].AsString(), args[2].AsString()
		if len(substr) > 1 && substr[0] == '/' && substr[len(substr)-1] == '/' {
			re, err := regexp.Compile(substr[1 : len(substr)-1])
			if err != nil {
				return cty.UnknownVal(cty.String), err
			}
			return cty.StringVal(re.ReplaceAllString(str, replace)), nil
		}
		return cty.StringVal(strings.ReplaceAll(str, substr, replace)), nil
	},
})

var base64GzipFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "str", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		var buf bytes.Buffer
		w := gzip.NewWriter(&buf)
		if _, err := w.Write([]byte(args[0].AsString())); err != nil {
			return cty.UnknownVal(cty.String), err
		}
		if err := w.Close(); err != nil {
			return cty.UnknownVal(cty.String), err
		}
		return cty.StringVal(base64.StdEncoding.EncodeToString(buf.Bytes())), nil
	},
})

func textCoding(params []function.Parameter, convert func(text, encoding string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := convert(args[0].AsString(), args[1].AsString())
			return cty.StringVal(out), err
		},
	})
}

var textEncodeFunc = textCoding([]function.Parameter{{Name: "string", Type: cty.String}, {Name: "encoding", Type: cty.String}}, func(text, name string) (string, error) {
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil || enc == nil {
		return "", function.NewArgErrorf(1, "%q is not a supported IANA encoding name or alias in this Terraform version", name)
	}
	out, err := enc.NewEncoder().String(text)
	if err != nil {
		return "", function.NewArgErrorf(0, "the given string contains characters that cannot be represented in %s", name)
	}
	return base64.StdEncoding.EncodeToString([]byte(out)), nil
})

var textDecodeFunc = textCoding([]function.Parameter{{Name: "source", Type: cty.String}, {Name: "encoding", Type: cty.String}}, func(text, name string) (string, error) {
	enc, err := ianaindex.IANA.Encoding(name)
	if err != nil || enc == nil {
		return "", function.NewArgErrorf(1, "%q is not a supported IANA encoding name or alias in this Terraform version", name)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", function.NewArgErrorf(0, "the given value is has an invalid base64 symbol")
	}
	out, err := enc.NewDecoder().Bytes(raw)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", function.NewArgError(0, fmt.Errorf("the given string contains symbols that are not defined for %s", name))
	}
	return string(out), nil
})
