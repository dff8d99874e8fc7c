package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/hashicorp/hcl/v2/hclsimple"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
	"golang.org/x/sync/errgroup"

	"github.com/towline/terraform-provider-towline/internal/bounds"
	"github.com/towline/terraform-provider-towline/internal/configs"
	"github.com/towline/terraform-provider-towline/internal/sops"
)

// Reference says where the value of a variable is that neither the revision nor the
// agent's configuration holds. Exactly one place is named.
type Reference struct {
	Name           string `hcl:"name,label"`
	File           string `hcl:"file,optional"`
	Env            string `hcl:"env,optional"`
	SSMParameter   string `hcl:"ssm_parameter,optional"`
	SecretsManager string `hcl:"secrets_manager,optional"`
	// Field names a field of a secret that is a JSON object.
	Field string `hcl:"field,optional"`
}

// referencesFile is where a revision names places of values.
const referencesFile = "variables.towline.hcl"

const (
	// maxReferences bounds the file with references, in bytes.
	maxReferences = 1 << 20
	// secretTimeout bounds how long one value may take; those of a round are read side by side.
	secretTimeout = 30 * time.Second
	// secretReaders is how many values are read at once, below the rates of AWS.
	secretReaders = 8
)

func (r Reference) place() secretRef {
	return secretRef{file: r.File, env: r.Env, ssmParameter: r.SSMParameter, secretsManager: r.SecretsManager}
}

// check refuses what names no place, or several.
func (r Reference) check() error {
	set := 0
	for _, value := range []string{r.File, r.Env, r.SSMParameter, r.SecretsManager} {
		if value != "" {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("variable %q must name exactly one of ssm_parameter, secrets_manager, file and env", r.Name)
	}
	return nil
}

// secretSource gives values to variables of a revision that it does not hold in clear text.
type secretSource interface {
	// variables are those that it gives a value to.
	variables() []string
	// read reads them. No error quotes a value.
	read(ctx context.Context) (map[string]cty.Value, error)
}

// secretSources are what a revision's variables get their secret values from; a later one
// goes before an earlier one. These variables are sensitive from here on.
func (a *Agent) secretSources(dir string, module *configs.Module) ([]secretSource, error) {
	sources, err := sopsFiles(dir, module, a.sealing.identities)
	if err != nil {
		return nil, err
	}
	declared, err := readReferences(filepath.Join(dir, referencesFile))
	if err != nil {
		return nil, err
	}
	for _, ref := range declared {
		if module.Variables[ref.Name] == nil {
			return nil, fmt.Errorf("%s names variable %q, which the revision does not declare", referencesFile, ref.Name)
		}
	}
	for _, ref := range append(declared, a.config.Variables...) {
		if v := module.Variables[ref.Name]; v != nil { // the agent's configuration is for many revisions
			sources = append(sources, &referredValue{ref, v})
		}
	}
	for _, source := range sources {
		for _, name := range source.variables() {
			module.Variables[name].Sensitive = true
		}
	}
	return sources, nil
}

// readReferences reads the places that a revision names. It must not name files and
// environment variables of the machine it comes to: whoever signs revisions may not read those.
func readReferences(path string) ([]Reference, error) {
	data, err := bounds.ReadFile(path, maxReferences)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read references: %w", err)
	}
	if diags := bounds.HCL(data, referencesFile); diags.HasErrors() {
		return nil, diags
	}
	var file struct {
		Variables []Reference `hcl:"variable,block"`
	}
	if err := hclsimple.Decode(referencesFile, data, nil, &file); err != nil {
		return nil, fmt.Errorf("read references: %w", err)
	}
	for _, ref := range file.Variables {
		if err := ref.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", referencesFile, err)
		}
		if ref.File != "" || ref.Env != "" {
			return nil, fmt.Errorf("%s: variable %q must name an ssm_parameter or a secrets_manager secret; files and environment variables are for the agent's own configuration", referencesFile, ref.Name)
		}
	}
	return file.Variables, nil
}

// referredValue is a value in a place that a reference names. It is read in every round,
// so that whoever changes it has nothing else to do.
type referredValue struct {
	ref      Reference
	variable *configs.Variable
}

func (v *referredValue) variables() []string { return []string{v.ref.Name} }

func (v *referredValue) read(ctx context.Context) (map[string]cty.Value, error) {
	text, err := v.ref.place().read(ctx)
	if err == nil && v.ref.Field != "" {
		text, err = field(text, v.ref.Field)
	}
	if err != nil {
		return nil, fmt.Errorf("variable %q: %w", v.ref.Name, err)
	}
	val, diags := configs.TextValue(v.variable, text)
	if diags.HasErrors() { // which may quote it
		return nil, fmt.Errorf("variable %q: what was read is no value of its type", v.ref.Name)
	}
	return map[string]cty.Value{v.ref.Name: val}, nil
}

// field takes one field out of a secret that is a JSON object.
func field(text, name string) (string, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return "", fmt.Errorf("the secret is no JSON object, so that it has no field %q", name)
	}
	raw, ok := fields[name]
	if !ok {
		return "", fmt.Errorf("the secret has no field %q", name)
	}
	var inner string
	if json.Unmarshal(raw, &inner) == nil {
		return inner, nil
	}
	return string(raw), nil
}

// sopsName is how files with encrypted values of variables are named.
var sopsName = regexp.MustCompile(`\.sops(?:\.tfvars)?\.(json|ya?ml|env)$`)

// sopsFile is a file with variables' values that SOPS has encrypted. It is decrypted once: a
// revision never changes.
type sopsFile struct {
	name       string
	format     sops.Format
	data       []byte
	module     *configs.Module
	identities []age.Identity
	names      []string
	opened     map[string]cty.Value
}

func sopsFiles(dir string, module *configs.Module, identities []age.Identity) ([]secretSource, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list revision: %w", err)
	}
	var out []secretSource
	for _, entry := range entries { // sorted by name
		match := sopsName.FindStringSubmatch(entry.Name())
		if match == nil || !entry.Type().IsRegular() {
			continue
		}
		file := &sopsFile{name: entry.Name(), format: sops.Format(strings.Replace(match[1], "yml", "yaml", 1)), module: module, identities: identities}
		if err := file.load(dir); err != nil {
			return nil, fmt.Errorf("%s: %w", file.name, err)
		}
		out = append(out, file)
	}
	return out, nil
}

// load reads the file and which variables it is for, which are in clear text.
func (f *sopsFile) load(dir string) (err error) {
	if f.data, err = bounds.ReadFile(filepath.Join(dir, f.name), sops.MaxFile); err != nil {
		return err
	}
	if f.names, err = sops.Names(f.format, f.data); err != nil {
		return err
	}
	for _, name := range f.names {
		if f.module.Variables[name] == nil {
			return fmt.Errorf("it has a value for variable %q, which the revision does not declare", name)
		}
	}
	return nil
}

func (f *sopsFile) variables() []string { return f.names }

func (f *sopsFile) read(ctx context.Context) (map[string]cty.Value, error) {
	if f.opened != nil {
		return f.opened, nil
	}
	plain, err := sops.Decrypt(ctx, f.format, f.data, f.identities)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	opened := make(map[string]cty.Value, len(plain))
	for name, val := range plain {
		if opened[name], err = f.valueOf(name, val); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	f.opened = opened
	return opened, nil
}

func (f *sopsFile) valueOf(name string, val any) (cty.Value, error) {
	if text, ok := val.(string); ok && f.format == sops.Dotenv {
		parsed, diags := configs.TextValue(f.module.Variables[name], text)
		if diags.HasErrors() { // which may quote it
			return cty.NilVal, fmt.Errorf("the value of %q is none of its type", name)
		}
		return parsed, nil
	}
	var implied ctyjson.SimpleJSONValue
	data, err := json.Marshal(val)
	if err == nil {
		err = implied.UnmarshalJSON(data)
	}
	if err != nil { // which may quote it
		return cty.NilVal, fmt.Errorf("the value of %q cannot be one of a variable", name)
	}
	return implied.Value, nil
}

// variableValues are a revision's variables in one round.
type variableValues struct {
	values map[string]cty.Value
	// missing are those whose values cannot be had now, and problems why.
	missing  []string
	problems []error
}

// readVariables reads all values of a revision's variables anew.
func (l *loaded) readVariables(ctx context.Context) variableValues {
	out := variableValues{values: maps.Clone(l.variables)}
	read, errs := make([]map[string]cty.Value, len(l.secrets)), make([]error, len(l.secrets))
	var group errgroup.Group
	group.SetLimit(secretReaders)
	for i, source := range l.secrets {
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, secretTimeout)
			defer cancel()
			read[i], errs[i] = source.read(ctx)
			return nil
		})
	}
	_ = group.Wait() // each source's error is its own
	for i, source := range l.secrets {
		for _, name := range source.variables() {
			out.missing = slices.DeleteFunc(out.missing, func(other string) bool { return other == name })
			if errs[i] != nil {
				delete(out.values, name)
				out.missing = append(out.missing, name)
			} else {
				out.values[name] = read[i][name]
			}
		}
		if errs[i] != nil {
			out.problems = append(out.problems, errs[i])
		}
	}
	slices.Sort(out.missing)
	return out
}

// readVariables reads the values of variables that the revision holds as ciphertext or
// references only. What depends on one that cannot be had is left alone; a new revision,
// which takes effect as a whole, waits for all of them.
func (r *round) readVariables(ctx context.Context) error {
	r.variables = r.revision.readVariables(ctx)
	r.learnVariables()
	if len(r.variables.missing) == 0 {
		return nil
	}
	why := errors.Join(r.variables.problems...)
	if r.agent.memory.Revision != r.revision.digest {
		return fmt.Errorf("a new revision needs the values of all its variables: %w", why)
	}
	names := strings.Join(r.variables.missing, ", ")
	r.notice = strings.TrimPrefix(r.notice+"; no value for variable "+names, "; ")
	r.warn("Value of variable not available", fmt.Sprintf("Nothing is planned for what depends on %s until it can be read: %s.", names, why))
	return nil
}
