package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/towline/terraform-provider-towline/internal/addrs"
	"github.com/towline/terraform-provider-towline/internal/engine"
)

func (a *app) graphCommand() *command {
	flags := flag.NewFlagSet("graph", flag.ContinueOnError)
	kind := flags.String("type", "", "refused: only the graph of resources is shown")
	plan := flags.String("plan", "", "refused: only the graph of the configuration is shown")
	return &command{
		synopsis: "Print which resources need which, in the DOT language", usage: "[options]", flags: flags,
		run: func(ctx context.Context, args []string) int {
			if a.refuseArguments("graph", args) {
				return exitFailed
			}
			if *kind != "" || *plan != "" {
				a.fail("Unsupported graph type", fmt.Errorf("graphs of terraform's own operations do not exist here; leave out -type and -plan to see which resources need which"))
				return exitFailed
			}
			w, diags := a.openWorkspace(engine.NoHook{}, 0)
			if a.refused(diags) {
				return exitFailed
			}
			nodes, diags := w.engine.Graph(ctx, w.config)
			failed := a.show(diags)
			if err := w.close(); err != nil {
				a.fail("Failed to end providers", err)
				return exitFailed
			}
			if failed {
				return exitFailed
			}
			a.printf("%s", dot(nodes))
			return exitOK
		},
	}
}

// dot writes a graph of resources, those of a module in a box.
func dot(nodes []engine.ResourceNode) string {
	byModule := map[string][]engine.ResourceNode{}
	for _, node := range nodes {
		path := node.Addr.Module.String()
		byModule[path] = append(byModule[path], node)
	}
	var boxes, edges strings.Builder
	for _, path := range slices.Sorted(maps.Keys(byModule)) {
		inside := byModule[path]
		slices.SortFunc(inside, func(a, b engine.ResourceNode) int { return strings.Compare(a.Addr.String(), b.Addr.String()) })
		indent := "  "
		if path != "" {
			fmt.Fprintf(&boxes, "  subgraph %q {\n    label = %q\n    fontname = \"sans-serif\"\n", "cluster_"+path, path)
			indent = "    "
		}
		for _, node := range inside {
			fmt.Fprintf(&boxes, "%s%q [label=%q];\n", indent, node.Addr, node.Addr.Resource)
			for _, needed := range sortedTexts(node.Needs) {
				fmt.Fprintf(&edges, "  %q -> %q;\n", node.Addr, needed)
			}
		}
		if path != "" {
			boxes.WriteString("  }\n")
		}
	}
	return "digraph G {\n  rankdir = \"RL\";\n  node [shape = rect, fontname = \"sans-serif\"];\n" + boxes.String() + edges.String() + "}\n"
}

func sortedTexts(list []addrs.ConfigResource) []string {
	out := make([]string, 0, len(list))
	for _, addr := range list {
		out = append(out, addr.String())
	}
	slices.Sort(out)
	return out
}
