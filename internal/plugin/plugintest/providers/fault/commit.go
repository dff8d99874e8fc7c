package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// kind returns the fault that an object asks for, "" if none.
func kind(dv *tfprotov6.DynamicValue) string {
	v, err := dv.Unmarshal(objectType)
	if err != nil {
		return ""
	}
	return text(v, "fault")
}

// diagnosed are the problems that an object asks for in a call.
func diagnosed(call string, dv *tfprotov6.DynamicValue) []*tfprotov6.Diagnostic {
	fault, at, _ := strings.Cut(kind(dv), "@")
	if at != call {
		return nil
	}
	switch fault {
	case "warn":
		return []*tfprotov6.Diagnostic{{Severity: tfprotov6.DiagnosticSeverityWarning, Summary: "Warned", Detail: "The fault says so."}}
	case "fail", "partial":
		out := problem("Failed", "The fault says so.")
		out[0].Attribute = tftypes.NewAttributePath().WithAttributeName("fault")
		return out
	case "quote":
		fmt.Fprintln(os.Stderr, `{"@level":"error","@message":"fails with `+quoted(dv)+`"}`)
		return problem("Failed with "+quoted(dv), "It was given "+quoted(dv)+".")
	}
	return nil
}

// quoted is what no provider should tell: what is sensitive of an object, and its own credential.
func quoted(dv *tfprotov6.DynamicValue) string {
	v, err := dv.Unmarshal(objectType)
	if err != nil {
		return ""
	}
	return text(v, "pin") + " and " + os.Getenv("FAULT_TOKEN")
}

// changes are the faults that change an answer.
var changes = map[string]func(v tftypes.Value) tftypes.Value{
	"unknown": set("size", tftypes.NewValue(tftypes.Number, tftypes.UnknownValue)),
	"secret":  set("secret", tftypes.NewValue(tftypes.String, "S3CRET")),
	"drift":   set("size", tftypes.NewValue(tftypes.Number, 99)),
	"pid":     set("name", tftypes.NewValue(tftypes.String, strconv.Itoa(os.Getpid()))),
	"described": func(v tftypes.Value) tftypes.Value {
		return set("size", tftypes.NewValue(tftypes.Number, described.Load()))(v)
	},
	"renamed":      set("name", tftypes.NewValue(tftypes.String, "other")),
	"unset":        set("name", tftypes.NewValue(tftypes.String, nil)),
	"unknown-name": set("name", tftypes.NewValue(tftypes.String, tftypes.UnknownValue)),
	"null-object":  func(tftypes.Value) tftypes.Value { return tftypes.NewValue(objectType, nil) },
	"unknown-object": func(tftypes.Value) tftypes.Value {
		return tftypes.NewValue(objectType, tftypes.UnknownValue)
	},
	"items":       set("items", tftypes.NewValue(tftypes.List{ElementType: itemType}, []tftypes.Value{item("other")})),
	"more-items":  set("items", tftypes.NewValue(tftypes.List{ElementType: itemType}, []tftypes.Value{item("k"), item("other")})),
	"no-items":    set("items", tftypes.NewValue(tftypes.List{ElementType: itemType}, nil)),
	"labels":      set("labels", labels("other")),
	"more-labels": set("labels", labels("l", "other")),
	"disks":       set("disk", disks(2)),
	"more-disks":  set("disk", disks(1, 2)),
	"no-disks":    set("disk", disks()),
	"null-disks":  set("disk", tftypes.NewValue(tftypes.List{ElementType: diskType}, nil)),
	"tags":        set("tag", tags("other")),
	"more-tags":   set("tag", tags("t", "other")),
	"no-tags":     set("tag", tags()),
}

func set(name string, to tftypes.Value) func(tftypes.Value) tftypes.Value {
	return func(v tftypes.Value) tftypes.Value { return with(v, name, to) }
}

func item(key string) tftypes.Value {
	return tftypes.NewValue(itemType, map[string]tftypes.Value{
		"key": tftypes.NewValue(tftypes.String, key), "value": tftypes.NewValue(tftypes.String, nil), "pin": tftypes.NewValue(tftypes.String, nil),
	})
}

func labels(names ...string) tftypes.Value {
	var vals []tftypes.Value
	for _, name := range names {
		vals = append(vals, tftypes.NewValue(tftypes.String, name))
	}
	return tftypes.NewValue(tftypes.Set{ElementType: tftypes.String}, vals)
}

func disks(sizes ...int) tftypes.Value {
	vals := []tftypes.Value{}
	for _, size := range sizes {
		vals = append(vals, tftypes.NewValue(diskType, map[string]tftypes.Value{
			"size": tftypes.NewValue(tftypes.Number, size), "device": tftypes.NewValue(tftypes.String, nil),
		}))
	}
	return tftypes.NewValue(tftypes.List{ElementType: diskType}, vals)
}

func tags(keys ...string) tftypes.Value {
	vals := []tftypes.Value{}
	for _, key := range keys {
		vals = append(vals, tftypes.NewValue(tagType, map[string]tftypes.Value{
			"key": tftypes.NewValue(tftypes.String, key), "value": tftypes.NewValue(tftypes.String, nil),
		}))
	}
	return tftypes.NewValue(tftypes.Set{ElementType: tagType}, vals)
}

// commit commits the fault that the object asks for in this call, and otherwise
// answers with the object.
func commit(ctx context.Context, call string, dv *tfprotov6.DynamicValue) (*tfprotov6.DynamicValue, error) {
	fault, at, _ := strings.Cut(kind(dv), "@")
	if at != call {
		return dv, nil
	}
	v, err := dv.Unmarshal(objectType)
	if err != nil {
		return nil, err
	}
	fault = strings.TrimPrefix(fault, "legacy-")
	if change := changes[fault]; change != nil {
		return encode(change(v))
	}
	switch fault {
	case "panic":
		fmt.Fprintln(os.Stderr, `{"@level":"error","@message":"about to panic","token":"S3CRET"}`)
		panic("fault: this provider is broken")
	case "quote-panic":
		panic("fault: this provider is broken by " + quoted(dv))
	case "eat":
		eat(ctx)
		return nil, ctx.Err()
	case "eat-once": // the name is that of a file which tells that it was done
		file, err := os.OpenFile(text(v, "name"), os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return dv, nil
		}
		_ = file.Close()
		eat(ctx)
		return nil, ctx.Err()
	case "exit":
		os.Exit(3)
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "ignore-cancel":
		time.Sleep(300 * time.Millisecond)
		return dv, nil
	case "stuck":
		select {}
	case "error":
		return nil, errors.New("an error that is no diagnostic")
	case "absent", "fail", "quote":
		return nil, nil
	}
	return damaged(fault, dv)
}

// eaten is how much memory the fault takes, in bytes.
const eaten = 600 << 20

// eat takes memory and keeps it until the call is given up.
func eat(ctx context.Context) {
	all := make([]byte, eaten)
	for i := range all {
		all[i] = 1
	}
	<-ctx.Done()
	runtime.KeepAlive(all)
}

// damaged answers with bytes that are not what the schema says, or with the object
// for faults that are committed elsewhere.
func damaged(fault string, dv *tfprotov6.DynamicValue) (*tfprotov6.DynamicValue, error) {
	switch fault {
	case "none", "defer", "warn", "partial", "private", "final", "object":
		return dv, nil
	case "json":
		return &tfprotov6.DynamicValue{JSON: []byte(`{"id":"j","name":"json","fault":null,"size":1,"secret":null,"config":null,"pin":null,"items":[{"key":"k","value":null,"pin":null}],"labels":null,"disk":[],"tag":[]}`)}, nil
	case "bad-json":
		return &tfprotov6.DynamicValue{JSON: []byte(`{"id":`)}, nil
	case "type":
		return &tfprotov6.DynamicValue{MsgPack: []byte{0x93, 1, 2, 3}}, nil
	case "attribute":
		return &tfprotov6.DynamicValue{MsgPack: []byte{0x81, 0xa4, 'n', 'o', 'p', 'e', 0xc0}}, nil
	case "truncated":
		return &tfprotov6.DynamicValue{MsgPack: dv.MsgPack[:len(dv.MsgPack)/2]}, nil
	case "huge": // an array of four billion elements, of which none follows
		return &tfprotov6.DynamicValue{MsgPack: []byte{0xdd, 0xff, 0xff, 0xff, 0xff}}, nil
	}
	if strings.HasPrefix(fault, "replace-") {
		return dv, nil
	}
	return nil, fmt.Errorf("there is no fault %q", fault)
}

func encode(v tftypes.Value) (*tfprotov6.DynamicValue, error) {
	dv, err := tfprotov6.NewDynamicValue(objectType, v)
	return &dv, err
}
