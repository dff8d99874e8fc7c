// Command terraform-provider-simcloud is started by terraform and towline, never by hand.
//
// It only serves; package provider is the provider.
package main

import (
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/towline/terraform-provider-towline/internal/simcloud/provider"
)

// version is set when a release is built.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve for a debugger instead of a started process")
	flag.Parse()
	var opts []tf6server.ServeOpt
	if *debug {
		opts = append(opts, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve(provider.Address, func() tfprotov6.ProviderServer { return provider.NewServer(version) }, opts...)
	if err != nil {
		log.Fatal(err)
	}
}
