package lang

import (
	"strings"
	"time"

	"github.com/hashicorp/go-cty-funcs/crypto"
	"github.com/hashicorp/go-cty-funcs/encoding"
	"github.com/hashicorp/go-cty-funcs/filesystem"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/towline/terraform-provider-towline/internal/bounds"
)

// FunctionOptions is what functions depend on besides their arguments.
type FunctionOptions struct {
	// BaseDir is the directory that relative paths start from.
	BaseDir string
	// PlanTime is the result of plantimestamp.
	PlanTime time.Time
	// Pure makes timestamp, uuid and bcrypt unknown, as while planning: what they
	// give now would differ from what they give at apply.
	Pure bool
}

// Impure tells whether a function may give something else for the same arguments:
// one that looks at the time, at chance, at files or at the machine, or one of a provider.
func Impure(name string) bool {
	switch name {
	case "abspath", "bcrypt", "fileexists", "fileset", "pathexpand", "plantimestamp", "templatefile", "templatestring", "timestamp", "uuid":
		return true
	}
	return strings.HasPrefix(name, "file") || strings.HasPrefix(name, "provider::")
}

// Functions returns the language's functions by name. The map is shared by all
// expressions of an operation and must not be changed.
func Functions(opts FunctionOptions) map[string]function.Function {
	fns := map[string]function.Function{
		"abs":             stdlib.AbsoluteFunc,
		"abspath":         filesystem.AbsPathFunc,
		"basename":        filesystem.BasenameFunc,
		"base64decode":    base64DecodeFunc,
		"base64encode":    encoding.Base64EncodeFunc,
		"bcrypt":          crypto.BcryptFunc,
		"can":             tryfunc.CanFunc,
		"ceil":            stdlib.CeilFunc,
		"chomp":           stdlib.ChompFunc,
		"chunklist":       stdlib.ChunklistFunc,
		"cidrhost":        cidrHostFunc,
		"cidrnetmask":     cidrNetmaskFunc,
		"cidrsubnet":      cidrSubnetFunc,
		"cidrsubnets":     cidrSubnetsFunc,
		"coalesce":        coalesceFunc,
		"coalescelist":    stdlib.CoalesceListFunc,
		"compact":         stdlib.CompactFunc,
		"concat":          stdlib.ConcatFunc,
		"contains":        stdlib.ContainsFunc,
		"csvdecode":       stdlib.CSVDecodeFunc,
		"dirname":         filesystem.DirnameFunc,
		"distinct":        stdlib.DistinctFunc,
		"element":         stdlib.ElementFunc,
		"file":            fileFunc(opts.BaseDir, false),
		"filebase64":      fileFunc(opts.BaseDir, true),
		"fileexists":      fileExistsFunc(opts.BaseDir),
		"fileset":         filesystem.MakeFileSetFunc(opts.BaseDir),
		"flatten":         stdlib.FlattenFunc,
		"floor":           stdlib.FloorFunc,
		"format":          stdlib.FormatFunc,
		"formatdate":      stdlib.FormatDateFunc,
		"formatlist":      stdlib.FormatListFunc,
		"indent":          bounded(stdlib.IndentFunc, checkIndent),
		"join":            stdlib.JoinFunc,
		"jsondecode":      bounded(stdlib.JSONDecodeFunc, checkText(bounds.JSON)),
		"jsonencode":      stdlib.JSONEncodeFunc,
		"keys":            stdlib.KeysFunc,
		"log":             logFunc,
		"lower":           stdlib.LowerFunc,
		"max":             stdlib.MaxFunc,
		"md5":             ofText(hexMD5),
		"merge":           stdlib.MergeFunc,
		"min":             stdlib.MinFunc,
		"parseint":        stdlib.ParseIntFunc,
		"pathexpand":      filesystem.PathExpandFunc,
		"pow":             stdlib.PowFunc,
		"range":           stdlib.RangeFunc,
		"regex":           stdlib.RegexFunc,
		"regexall":        stdlib.RegexAllFunc,
		"reverse":         stdlib.ReverseListFunc,
		"rsadecrypt":      rsaDecryptFunc,
		"setintersection": stdlib.SetIntersectionFunc,
		"setproduct":      bounded(stdlib.SetProductFunc, checkProduct),
		"setsubtract":     stdlib.SetSubtractFunc,
		"setunion":        stdlib.SetUnionFunc,
		"sha1":            ofText(hexSHA1),
		"sha256":          ofText(hexSHA256),
		"sha512":          ofText(hexSHA512),
		"signum":          stdlib.SignumFunc,
		"slice":           stdlib.SliceFunc,
		"sort":            stdlib.SortFunc,
		"split":           stdlib.SplitFunc,
		"strrev":          stdlib.ReverseFunc,
		"substr":          stdlib.SubstrFunc,
		"timeadd":         stdlib.TimeAddFunc,
		"title":           stdlib.TitleFunc,
		"trim":            stdlib.TrimFunc,
		"trimprefix":      stdlib.TrimPrefixFunc,
		"trimspace":       stdlib.TrimSpaceFunc,
		"trimsuffix":      stdlib.TrimSuffixFunc,
		"try":             tryfunc.TryFunc,
		"upper":           stdlib.UpperFunc,
		"urlencode":       encoding.URLEncodeFunc,
		"uuid":            uuid.V4Func,
		"uuidv5":          uuid.V5Func,
		"values":          stdlib.ValuesFunc,
		"yamldecode":      bounded(ctyyaml.YAMLDecodeFunc, checkText(bounds.YAML)),
		"yamlencode":      ctyyaml.YAMLEncodeFunc,
		"zipmap":          stdlib.ZipmapFunc,
	}
	addOwnFunctions(fns, opts)
	for name, fn := range fns {
		fns[name] = Guarded(fn)
	}
	if opts.Pure {
		for _, name := range []string{"timestamp", "uuid", "bcrypt"} {
			fns[name] = unknownResult(fns[name])
		}
	}
	return addCoreNames(fns)
}

// unknownResult returns a function that checks its arguments but leaves the result open.
func unknownResult(fn function.Function) function.Function {
	return function.New(&function.Spec{
		Params:   fn.Params(),
		VarParam: fn.VarParam(),
		Type:     fn.ReturnTypeForValues,
		Impl: func(_ []cty.Value, retType cty.Type) (cty.Value, error) {
			return cty.UnknownVal(retType), nil
		},
	})
}

// addCoreNames makes every function known as core::NAME as well.
func addCoreNames(fns map[string]function.Function) map[string]function.Function {
	out := make(map[string]function.Function, 2*len(fns))
	for name, fn := range fns {
		out[name], out["core::"+name] = fn, fn
	}
	return out
}
