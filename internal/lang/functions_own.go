package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// addOwnFunctions adds the functions that no library has as Terraform defines them.
func addOwnFunctions(fns map[string]function.Function, opts FunctionOptions) {
	for name, fn := range map[string]function.Function{
		"tobool":   toFunc(cty.Bool),
		"tolist":   toFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":    toFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber": toFunc(cty.Number),
		"toset":    toFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring": toFunc(cty.String),

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
		"base64sha256":     ofText(base64SHA256),
		"base64sha512":     ofText(base64SHA512),
		"textdecodebase64": textDecodeFunc,
		"textencodebase64": textEncodeFunc,

		"filebase64sha256": ofFile(opts.BaseDir, base64SHA256),
		"filebase64sha512": ofFile(opts.BaseDir, base64SHA512),
		"filemd5":          ofFile(opts.BaseDir, hexMD5),
		"filesha1":         ofFile(opts.BaseDir, hexSHA1),
		"filesha256":       ofFile(opts.BaseDir, hexSHA256),
		"filesha512":       ofFile(opts.BaseDir, hexSHA512),

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
