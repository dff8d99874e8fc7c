// Command docsgen generates docs/ from the provider's schema, templates/ and
// examples/. It needs terraform and no network: the provider is built here.
//
//	go run ./docsgen    in tools/
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

const address = "registry.terraform.io/towline/towline"

func main() {
	if err := generate(); err != nil {
		fmt.Fprintf(os.Stderr, "docsgen: %v\n", err)
		os.Exit(1)
	}
}

func generate() error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "docsgen-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	schema, err := providerSchema(root, work)
	if err != nil {
		return err
	}
	file := filepath.Join(work, "schema.json")
	// tfplugindocs looks for providers of HashiCorp's and for short names only.
	schema = bytes.Replace(schema, []byte(strconv.Quote(address)), []byte(`"towline"`), 1)
	if err := os.WriteFile(file, schema, 0o600); err != nil {
		return err
	}
	if _, err := run(root, nil, "terraform", "fmt", "-recursive", "examples"); err != nil {
		return err
	}
	_, err = run(".", nil, "go", "tool", "tfplugindocs", "generate", "--provider-dir", root,
		"--provider-name", "towline", "--rendered-provider-name", "Towline", "--providers-schema", file)
	return err
}

// providerSchema asks terraform for the schema of the provider as it is built now.
func providerSchema(root, work string) ([]byte, error) {
	if _, err := run(root, nil, "go", "build", "-o", filepath.Join(work, "terraform-provider-towline"), "./provider/cmd/terraform-provider-towline"); err != nil {
		return nil, err
	}
	files := map[string]string{
		"terraform.rc": fmt.Sprintf("provider_installation {\n  dev_overrides {\n    %q = %q\n  }\n}\n", address, work),
		"main.tf":      "terraform {\n  required_providers {\n    towline = { source = \"towline/towline\" }\n  }\n}\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	env := []string{"TF_CLI_CONFIG_FILE=" + filepath.Join(work, "terraform.rc"), "CHECKPOINT_DISABLE=1"}
	return run(work, env, "terraform", "providers", "schema", "-json")
}

func run(dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var output, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &problems
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s%s", name, args, err, output.String(), problems.String())
	}
	return output.Bytes(), nil
}
