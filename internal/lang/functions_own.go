package lang

import (
	"github.com/hashicorp/go-cty-funcs/crypto"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// addOwnFunctions adds the functions that no library has as Terraform defines them.
func addOwnFunctions(fns map[string]function.Function, opts FunctionOptions) {
	for name, fn := range map[string]function.Function{
		"tobool":   stdlib.MakeToFunc(cty.Bool),
		"tolist":   stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":    stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber": stdlib.MakeToFunc(cty.Number),
		"toset":    stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring": stdlib.MakeToFunc(cty.String),

		"endswith":    suffixFunc,
		"startswith":  prefixFunc,
		"strcontains": containsTextFunc,
		"replace":     replaceFunc,

		"alltrue":   allTrueFunc,
		"anytrue":   anyTrueFunc,
		"index":     indexFunc,
		"length":    lengthFunc,
		"lookup":    lookupFunc,
		"matchkeys": matchKeysFunc,
		"one":       oneFunc,
		"sum":       sumFunc,
		"transpose": transposeFunc,

		"base64gzip":       base64GzipFunc,
		"base64sha256":     base64Of(crypto.Sha256Func),
		"base64sha512":     base64Of(crypto.Sha512Func),
		"textdecodebase64": textDecodeFunc,
		"textencodebase64": textEncodeFunc,

		"filebase64sha256": ofFile(opts.BaseDir, base64Of(crypto.Sha256Func)),
		"filebase64sha512": ofFile(opts.BaseDir, base64Of(crypto.Sha512Func)),
		"filemd5":          ofFile(opts.BaseDir, crypto.Md5Func),
		"filesha1":         ofFile(opts.BaseDir, crypto.Sha1Func),
		"filesha256":       ofFile(opts.BaseDir, crypto.Sha256Func),
		"filesha512":       ofFile(opts.BaseDir, crypto.Sha512Func),

		"plantimestamp": planTimestampFunc(opts.PlanTime),
		"timecmp":       timeCompareFunc,
		"timestamp":     timestampFunc,

		"ephemeralasnull": ephemeralAsNullFunc,
		"issensitive":     isSensitiveFunc,
		"nonsensitive":    nonsensitiveFunc,
		"sensitive":       sensitiveFunc,
	} {
		fns[name] = fn
	}
	fns["templatefile"] = templateFileFunc(opts.BaseDir, fns)
	fns["templatestring"] = templateStringFunc(fns)
}
