package planjson

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

// TestSchemasAsTerraform: the schemas of a provider are printed as terraform prints them.
func TestSchemasAsTerraform(t *testing.T) {
	t.Parallel()
	cloud := oracletest.NewCloud(t)
	cloud.Write(map[string]string{"main.tf": cloud.With("")})
	cloud.Init()
	encoded, err := ProviderSchemas(cloud.Schemas())
	if err != nil {
		t.Fatal(err)
	}
	const simcloud = "registry.terraform.io/towline/simcloud"
	var got, want struct {
		FormatVersion string         `json:"format_version"`
		Schemas       map[string]any `json:"provider_schemas"`
	}
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(cloud.Terraform("providers", "schema", "-json")), &want); err != nil {
		t.Fatal(err)
	}
	if want.Schemas[simcloud] == nil {
		t.Fatal("terraform does not print the schemas of the provider")
	}
	if diff := cmp.Diff(want.Schemas[simcloud], got.Schemas[simcloud]); diff != "" || want.FormatVersion != got.FormatVersion {
		t.Errorf("schemas differ (-terraform +towline):\n%s", diff)
	}
}
