// Command terraform-provider-towline is started by terraform, never by hand.
//
// It only serves; package provider is the provider.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/towline/terraform-provider-towline/provider"
)

// version is set when a release is built.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve for a debugger instead of a started process")
	flag.Parse()
	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: provider.Address,
		Debug:   *debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}
