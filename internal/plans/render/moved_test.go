package render_test

import (
	"testing"

	"github.com/towline/terraform-provider-towline/internal/plans/oracletest"
)

const beforeMoves = `
resource "terraform_data" "chain" {
  input = 1
}
resource "terraform_data" "stays" {}
resource "terraform_data" "taken" {}
resource "terraform_data" "lost" {}
resource "terraform_data" "updated" {
  input = 1
}
resource "terraform_data" "replaced" {}
resource "terraform_data" "single" {
  count = 3
}
module "m" {
  source = "./m"
  count  = 2
}
`

const afterMoves = `
resource "terraform_data" "end" {
  input = 1
}
resource "terraform_data" "taken" {}
resource "terraform_data" "changed" {
  input = 2
}
resource "terraform_data" "anew" {
  triggers_replace = 1
}
resource "terraform_data" "single" {}
module "n" {
  source   = "./m"
  for_each = toset(["x y"])
}
moved {
  from = terraform_data.chain
  to   = terraform_data.middle
}
moved {
  from = terraform_data.middle
  to   = terraform_data.end
}
moved {
  from = terraform_data.stays
  to   = terraform_data.taken
}
moved {
  from = terraform_data.lost
  to   = terraform_data.nowhere
}
moved {
  from = terraform_data.updated
  to   = terraform_data.changed
}
moved {
  from = terraform_data.replaced
  to   = terraform_data.anew
}
moved {
  from = module.m[0]
  to   = module.n["x y"]
}
`

// TestMovedAsTerraform compares the texts of plans that move objects.
func TestMovedAsTerraform(t *testing.T) {
	t.Parallel()
	files := map[string]string{"m/m.tf": "resource \"terraform_data\" \"in\" {}\n"}
	before, after := step{config: beforeMoves, files: files}, step{config: afterMoves, files: files}
	refreshed := after
	refreshed.refresh, refreshed.planOnly = true, true
	tests := map[string][]step{
		"changes":   {before, after, after},
		"noticed":   {before, refreshed},
		"only move": {one("1"), {config: "resource \"terraform_data\" \"b\" {\n  input = 1\n}\nmoved {\n  from = terraform_data.a\n  to = terraform_data.b\n}\n"}},
	}
	for name, steps := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, oracletest.New(t), steps)
		})
	}
}
