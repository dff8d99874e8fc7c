package registry

import (
	"context"
	"fmt"
	"net/url"

	tfaddr "github.com/hashicorp/terraform-registry-address"
	svchost "github.com/hashicorp/terraform-svchost"
)

const modulesService = "modules.v1"

func modulePath(pkg tfaddr.ModulePackage) string {
	return url.PathEscape(pkg.Namespace) + "/" + url.PathEscape(pkg.Name) + "/" + url.PathEscape(pkg.TargetSystem)
}

// ModuleVersions lists the versions that a registry has of a module, in no order.
func (c *Client) ModuleVersions(ctx context.Context, pkg tfaddr.ModulePackage) ([]string, error) {
	out, err := c.ask(ctx, svchost.Hostname(pkg.Host), modulesService, modulePath(pkg)+"/versions")
	if err != nil {
		return nil, err
	}
	var list struct {
		Modules []struct{ Versions []struct{ Version string } }
	}
	if err := out.decode(&list); err != nil {
		return nil, err
	}
	var versions []string
	for _, m := range list.Modules {
		for _, v := range m.Versions {
			versions = append(versions, v.Version)
		}
	}
	return versions, nil
}

// ModuleSource returns the address from which a version of a module is fetched. An
// address without a scheme is relative to the registry's.
func (c *Client) ModuleSource(ctx context.Context, pkg tfaddr.ModulePackage, version string) (string, error) {
	out, err := c.ask(ctx, svchost.Hostname(pkg.Host), modulesService, modulePath(pkg)+"/"+url.PathEscape(version)+"/download")
	if err != nil {
		return "", err
	}
	location := out.header.Get("X-Terraform-Get")
	if location == "" {
		return "", fmt.Errorf("%s does not say where version %s of the module is", out.url.Host, version)
	}
	if relative(location) {
		ref, err := url.Parse(location)
		if err != nil {
			return "", fmt.Errorf("%s gives an address that is none: %w", out.url.Host, err)
		}
		return out.url.ResolveReference(ref).String(), nil
	}
	return location, nil
}

func relative(location string) bool {
	for _, prefix := range []string{"/", "./", "../"} {
		if len(location) >= len(prefix) && location[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}
