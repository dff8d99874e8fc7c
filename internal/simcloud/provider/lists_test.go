package provider_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/towline/terraform-provider-towline/internal/simcloud"
	"github.com/towline/terraform-provider-towline/internal/simcloud/cloudapi"
	"github.com/towline/terraform-provider-towline/internal/simcloud/provider"
)

func textObject(t *testing.T, attrs map[string]any) *tfprotov6.DynamicValue {
	t.Helper()
	ty := tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}
	vals := map[string]tftypes.Value{}
	for name, val := range attrs {
		ty.AttributeTypes[name], vals[name] = tftypes.String, tftypes.NewValue(tftypes.String, val)
	}
	dv, err := tfprotov6.NewDynamicValue(ty, tftypes.NewValue(ty, vals))
	if err != nil {
		t.Fatal(err)
	}
	return &dv
}

// TestLists lists what there is of a kind, with what identifies each object.
func TestLists(t *testing.T) {
	t.Parallel()
	c := startCloud(t, simcloud.Options{})
	for _, ref := range []cloudapi.Ref{
		{Environment: "dev", Service: "web", Kind: "config", Name: "a"}, {Environment: "dev", Service: "db", Kind: "config", Name: "b"},
		{Environment: "prod", Service: "web", Kind: "config", Name: "c"},
	} {
		if _, err := c.hand.Create(t.Context(), ref, map[string]any{"data": map[string]any{"k": "v"}}); err != nil {
			t.Fatal(err)
		}
	}
	server := provider.NewServer("test")
	lists, ok := server.(tfprotov6.ListResourceServer)
	if !ok {
		t.Fatal("the provider lists nothing")
	}
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: textObject(t, map[string]any{"endpoint": c.url, "token": nil, "actor": nil})})
	if err != nil || len(configured.Diagnostics) > 0 {
		t.Fatal(err, configured)
	}
	for name, test := range map[string]struct {
		environment any
		limit       int64
		want        []string
	}{
		"everything":     {nil, 10, []string{"dev/db/b", "dev/web/a", "prod/web/c"}},
		"an environment": {"dev", 10, []string{"dev/db/b", "dev/web/a"}},
		"as many":        {nil, 1, []string{"dev/db/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stream, err := lists.ListResource(t.Context(), &tfprotov6.ListResourceRequest{
				TypeName: "simcloud_config", Limit: test.limit, IncludeResource: true, Config: textObject(t, map[string]any{"environment": test.environment, "service": nil}),
			})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for result := range stream.Results {
				if len(result.Diagnostics) > 0 || result.Resource == nil {
					t.Fatalf("got %+v", result)
				}
				identity, err := result.Identity.IdentityData.Unmarshal(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"environment": tftypes.String, "service": tftypes.String, "name": tftypes.String}})
				var vals map[string]tftypes.Value
				if err != nil || identity.As(&vals) != nil {
					t.Fatal(err)
				}
				var parts [3]string
				for i, name := range []string{"environment", "service", "name"} {
					if err := vals[name].As(&parts[i]); err != nil {
						t.Fatal(err)
					}
				}
				got = append(got, fmt.Sprintf("%s/%s/%s", parts[0], parts[1], parts[2]))
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("listed %q, want %q", got, test.want)
			}
		})
	}
}
