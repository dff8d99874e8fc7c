package objchange_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/towline/terraform-provider-towline/internal/objchange"
	"github.com/towline/terraform-provider-towline/internal/providers"
)

// check compares errors with a fragment of the only one expected, or none.
func check(t *testing.T, errs []error, want string) {
	t.Helper()
	switch {
	case want == "" && len(errs) > 0:
		t.Errorf("got errors %q, want none", errs)
	case want != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), want)):
		t.Errorf("got errors %q, want one with %q", errs, want)
	}
}

func TestAssertPlanValid(t *testing.T) {
	t.Parallel()
	attr := func(a *providers.Attribute) *providers.Block { return &providers.Block{Attributes: attrMap{"x": a}} }
	secret := &providers.Attribute{Type: cty.String, Optional: true, Sensitive: true}
	writeOnly := &providers.Attribute{Type: cty.String, Optional: true, WriteOnly: true}
	nameID := attrMap{"name": opt, "id": computed}
	nid := named(s(""), s("")).Type()
	tests := map[string]struct {
		schema                 *providers.Block
		prior, config, planned cty.Value
		want                   string
	}{
		"as configured":                {attr(opt), x(null), x(s("a")), x(s("a")), ""},
		"unknown as configured":        {attr(opt), x(null), x(unknown), x(unknown), ""},
		"unknown with refinement":      {attr(opt), x(null), x(unknown), x(unknown.RefineNotNull()), ""},
		"other than configured":        {attr(opt), x(null), x(s("a")), x(s("b")), `cty.StringVal("b"), the configuration is cty.StringVal("a")`},
		"prior kept":                   {attr(opt), x(s("A")), x(s("a")), x(s("A")), ""},
		"prior kept but not set":       {attr(opt), x(s("A")), x(null), x(s("A")), "not configured and not computed"},
		"neither":                      {attr(opt), x(s("A")), x(s("a")), x(s("b")), "neither the configured nor the prior"},
		"configured becomes unknown":   {attr(opt), x(s("A")), x(s("a")), x(unknown), "neither the configured"},
		"optional computed default":    {attr(optComp), x(null), x(null), x(s("b")), ""},
		"optional computed overridden": {attr(optComp), x(null), x(s("a")), x(s("b")), "other than the configured"},
		"computed with ignored config": {attr(computed), x(s("A")), x(s("a")), x(s("b")), ""},
		"write-only dropped":           {attr(writeOnly), x(null), x(s("a")), x(null), ""},
		"write-only changed":           {attr(writeOnly), x(null), x(s("a")), x(s("b")), "other than the configured"},
		"not write-only dropped":       {attr(opt), x(null), x(s("a")), x(null), "other than the configured"},
		"sensitive":                    {attr(secret), x(null), x(s("SECRET")), x(s("b")), "sensitive attribute"},
		"marked":                       {attr(opt), x(null), x(s("SECRET").Mark("m")), x(s("b")), "sensitive attribute"},
		"create from untyped null":     {attr(opt), cty.NullVal(cty.DynamicPseudoType), x(s("a")), x(s("a")), ""},
		"object dropped":               {attr(opt), x(s("a")), x(s("a")), cty.NullVal(x(null).Type()), "absent, but the configuration has it"},
		"object made up":               {attr(opt), x(s("a")), cty.NullVal(x(null).Type()), x(null), "planned to exist"},

		"block count":          {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(list(named(s("a"), null))), x(cty.ListValEmpty(nid)), "planned 0 blocks, but the configuration has 1"},
		"block null":           {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(cty.ListValEmpty(nid)), x(cty.NullVal(cty.List(nid))), "empty collection, not null"},
		"block unknown":        {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(cty.ListValEmpty(nid)), x(cty.UnknownVal(cty.List(nid))), "must not be unknown"},
		"block element":        {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(list(named(s("a"), null))), x(list(cty.UnknownVal(nid))), "must not be unknown"},
		"dynamic block filled": {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(cty.UnknownVal(cty.List(nid))), x(list(named(s("a"), null))), "not known yet"},
		"dynamic block kept":   {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(cty.UnknownVal(cty.List(nid))), x(cty.UnknownVal(cty.List(nid))), ""},
		"block attributes":     {blocksOf(providers.NestingList, nameID), x(list(named(s("o"), s("1")))), x(list(named(s("a"), null))), x(list(named(s("b"), s("1")))), "neither the configured"},
		"legacy config null":   {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(cty.NullVal(cty.List(nid))), x(cty.ListValEmpty(nid)), ""},
		"map block missing":    {blocksOf(providers.NestingMap, nameID), x(cty.MapValEmpty(nid)), x(cty.MapVal(vals{"k": named(s("a"), null)})), x(cty.MapValEmpty(nid)), "in the configuration, but not planned"},
		"map block made up":    {blocksOf(providers.NestingMap, nameID), x(cty.MapValEmpty(nid)), x(cty.MapValEmpty(nid)), x(cty.MapVal(vals{"k": named(s("a"), null)})), "planned, but not in the configuration"},
		"set block trusted":    {blocksOf(providers.NestingSet, nameID), x(cty.SetValEmpty(nid)), x(set(named(s("a"), null))), x(set(named(s("zzz"), s("1")))), ""},

		"nested count":        {nestedOf(providers.NestingList, opt, nameID), x(cty.NullVal(cty.List(nid))), x(list(named(s("a"), null))), x(list(named(s("a"), null), named(s("b"), null))), "planned 2 elements, but the configuration has 1"},
		"nested computed":     {nestedOf(providers.NestingList, opt, nameID), x(cty.NullVal(cty.List(nid))), x(list(named(s("a"), null))), x(list(named(s("a"), unknown))), ""},
		"nested null element": {nestedOf(providers.NestingList, opt, nameID), x(cty.NullVal(cty.List(nid))), x(list(named(s("a"), null))), x(list(cty.NullVal(nid))), "planned to be absent"},
		"nested map key":      {nestedOf(providers.NestingMap, opt, nameID), x(cty.NullVal(cty.Map(nid))), x(cty.MapVal(vals{"k": named(s("a"), null)})), x(cty.MapVal(vals{"k": named(s("b"), null)})), "other than the configured"},
		"nested unknown":      {nestedOf(providers.NestingSingle, opt, nameID), x(cty.NullVal(nid)), x(named(s("a"), null)), x(cty.UnknownVal(nid)), "planned as unknown"},
		"nested set size":     {nestedOf(providers.NestingSet, opt, nameID), x(cty.NullVal(cty.Set(nid))), x(set(named(s("a"), null))), x(cty.SetValEmpty(nid)), "number of elements"},
		"nested set trusted":  {nestedOf(providers.NestingSet, opt, nameID), x(cty.NullVal(cty.Set(nid))), x(set(named(s("a"), null))), x(set(named(s("b"), s("1")))), ""},
		"nested sensitive":    {nestedOf(providers.NestingSingle, opt, attrMap{"name": secret, "id": opt}), x(cty.NullVal(nid)), x(named(s("SECRET"), null)), x(named(s("b"), null)), "sensitive attribute"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := objchange.AssertPlanValid(test.schema, test.prior, test.config, test.planned)
			check(t, errs, test.want)
			if strings.Contains(fmt.Sprint(errs), "SECRET") {
				t.Errorf("a sensitive value shows in %q", errs)
			}
		})
	}
}

func TestAssertObjectCompatible(t *testing.T) {
	t.Parallel()
	attr := func(ty cty.Type) *providers.Block {
		return &providers.Block{Attributes: attrMap{"x": {Type: ty, Optional: true}}}
	}
	nameID := attrMap{"name": opt, "id": computed}
	nid := named(s(""), s("")).Type()
	dynamicBlocks := attrMap{"name": {Type: cty.DynamicPseudoType, Optional: true}, "id": computed}
	secret := &providers.Block{Attributes: attrMap{"x": {Type: cty.Map(cty.String), Optional: true, Sensitive: true}}}
	tests := map[string]struct {
		schema          *providers.Block
		planned, actual cty.Value
		want            string
	}{
		"same":              {attr(cty.String), x(s("a")), x(s("a")), ""},
		"changed":           {attr(cty.String), x(s("a")), x(s("b")), `the plan is cty.StringVal("a"), the result is cty.StringVal("b")`},
		"completed":         {attr(cty.String), x(unknown), x(s("b")), ""},
		"completed as null": {attr(cty.String), x(unknown), x(null), ""},
		"refinement broken": {attr(cty.String), x(unknown.RefineNotNull()), x(null), "does not fit what the plan promised"},
		"prefix broken":     {attr(cty.String), x(unknown.Refine().StringPrefix("https:").NewValue()), x(s("http")), "does not fit what the plan promised"},
		"became null":       {attr(cty.String), x(s("a")), x(null), "was planned, but is null"},
		"became set":        {attr(cty.String), x(null), x(s("a")), "planned to be null"},
		"became unknown":    {attr(cty.String), x(s("a")), x(unknown), "but is unknown"},
		"object vanished":   {attr(cty.String), x(s("a")), cty.NullVal(x(null).Type()), "but is absent"},
		"object appeared":   {attr(cty.String), cty.NullVal(x(null).Type()), x(s("a")), "but is present"},
		"dynamic type":      {attr(cty.DynamicPseudoType), x(cty.DynamicVal), x(cty.True), ""},
		"type changed":      {attr(cty.DynamicPseudoType), x(s("a")), x(cty.True), "was planned as string, but is bool"},
		"element vanished":  {attr(cty.List(cty.String)), x(list(s("a"), s("b"))), x(list(s("a"))), "has vanished"},
		"element appeared":  {attr(cty.Map(cty.String)), x(cty.MapValEmpty(cty.String)), x(cty.MapVal(vals{"k": s("a")})), "has appeared"},
		"sensitive":         {secret, x(cty.MapVal(vals{"SECRET": s("SECRET")})), x(cty.MapVal(vals{"k": s("SECRET2")})), "sensitive attribute"},
		"sensitive by mark": {attr(cty.String), x(s("SECRET").Mark("m")), x(s("b")), "sensitive attribute"},

		"set same":        {attr(cty.Set(cty.String)), x(set(s("a"), s("b"))), x(set(s("b"), s("a"))), ""},
		"set lost":        {attr(cty.Set(cty.String)), x(set(s("a"), s("b"))), x(set(s("a"))), "no counterpart in the result"},
		"set completed":   {attr(cty.Set(cty.String)), x(set(unknown, s("b"))), x(set(s("a"), s("b"))), ""},
		"set coalesced":   {attr(cty.Set(cty.String)), x(set(unknown, s("b"))), x(set(s("b"))), ""},
		"set grown":       {attr(cty.Set(cty.String)), x(set(unknown)), x(set(s("a"), s("b"))), "planned with 1 elements, but has 2"},
		"set blocks":      {blocksOf(providers.NestingSet, nameID), x(set(named(s("a"), unknown))), x(set(named(s("a"), s("1")))), ""},
		"set block other": {blocksOf(providers.NestingSet, nameID), x(set(named(s("a"), unknown))), x(set(named(s("b"), s("1")))), "no counterpart in the result"},

		"blocks":               {blocksOf(providers.NestingList, nameID), x(list(named(s("a"), unknown))), x(list(named(s("a"), s("1")))), ""},
		"block vanished":       {blocksOf(providers.NestingList, nameID), x(list(named(s("a"), null))), x(cty.ListValEmpty(nid)), "has vanished"},
		"block appeared":       {blocksOf(providers.NestingMap, nameID), x(cty.MapValEmpty(nid)), x(cty.MapVal(vals{"k": named(s("a"), null)})), "has appeared"},
		"unknown blocks, none": {blocksOf(providers.NestingSingle, nameID), x(cty.UnknownVal(nid)), x(cty.NullVal(nid)), ""},
		"unknown blocks, some": {blocksOf(providers.NestingList, nameID), x(cty.UnknownVal(cty.List(nid))), x(list(named(s("a"), null))), ""},
		"legacy null":          {blocksOf(providers.NestingList, nameID), x(cty.ListValEmpty(nid)), x(cty.NullVal(cty.List(nid))), ""},
		"dynamic blocks":       {blocksOf(providers.NestingList, dynamicBlocks), x(tuple(named(cty.True, unknown))), x(tuple(named(cty.True, s("1")))), ""},
		"dynamic map block":    {blocksOf(providers.NestingMap, dynamicBlocks), x(obj(vals{"k": named(cty.True, null)})), x(cty.EmptyObjectVal), "has vanished"},
		"not blocks at all":    {blocksOf(providers.NestingList, dynamicBlocks), x(tuple(named(cty.True, null))), x(cty.True), "is not a collection"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := objchange.AssertObjectCompatible(test.schema, test.planned, test.actual)
			check(t, errs, test.want)
			for _, err := range errs {
				var pathErr cty.PathError
				if !errors.As(err, &pathErr) {
					t.Errorf("%v is not a path error", err)
				}
				if strings.Contains(err.Error(), "SECRET") || pathContains(pathErr.Path, "SECRET") {
					t.Errorf("a sensitive value shows in %v at %#v", err, pathErr.Path)
				}
			}
		})
	}
}

func pathContains(path cty.Path, text string) bool {
	for _, step := range path {
		if index, ok := step.(cty.IndexStep); ok && index.Key.Type() == cty.String && index.Key.AsString() == text {
			return true
		}
	}
	return false
}

// A set that grows is told of twice, as terraform does: which element, and how many.
func TestGrownSet(t *testing.T) {
	t.Parallel()
	schema := &providers.Block{Attributes: map[string]*providers.Attribute{"x": {Type: cty.Set(cty.String), Optional: true}}}
	with := func(elems ...cty.Value) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"x": cty.SetVal(elems)})
	}
	errs := objchange.AssertObjectCompatible(schema, with(cty.StringVal("a")), with(cty.StringVal("a"), cty.StringVal("b")))
	if len(errs) != 2 {
		t.Fatalf("got %v, want two errors", errs)
	}
	check(t, errs[:1], "no counterpart in the plan")
	check(t, errs[1:], "planned with 1 elements, but has 2")
}
