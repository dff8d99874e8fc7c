package provider

import (
	"fmt"
	"path"
	"strings"
	"text/template"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v3"

	"github.com/towline/terraform-provider-towline/internal/control"
)

// Paths on an agent's machine. Users that need others write their own user data
// around agent_config.
const (
	configDir      = "/etc/towline"
	configPath     = configDir + "/agent.hcl"
	rootPath       = configDir + "/root.json"
	unitPath       = "/etc/systemd/system/towline-agent.service"
	binaryPath     = "/usr/local/bin/towline"
	defaultDataDir = "/var/lib/towline"
	// defaultTokenFile is where the agent looks for its join token unless told otherwise.
	defaultTokenFile = configDir + "/join-token"
)

// machine is all that the bootstrap depends on. It holds no secret: the join
// token reaches the machine by another way, which TokenSource names.
type machine struct {
	Repository, Environment, Agent string
	// Shard is the part of the environment that the agent works on.
	Shard string
	// TrustedRoot is the root that the agent believes without proof.
	TrustedRoot string
	DataDir     string
	// Mirrors are copies of the repository that the agent may read.
	Mirrors     []string
	TokenSource secretSource
	// Slack is where the agent finds its secrets of Slack, zero without any.
	Slack control.Slack
	// Recipients can open what the agent seals.
	Recipients []string
	// Queue is the URL of an SQS queue that brings signals, "" for none.
	Queue string
	// Download is where to fetch the program from, zero if the image has it.
	Download download
}

// secretSource says where the agent finds a secret; one field is set at most.
type secretSource struct{ File, Env, SSMParameter, SecretsManager string }

// download is a program to fetch and its SHA-256 in hex.
type download struct{ URL, SHA256 string }

// agentConfig renders the agent's configuration file.
func agentConfig(m machine) string {
	file := hclwrite.NewEmptyFile()
	body := file.Body()
	for _, field := range []struct{ name, value string }{
		{"store", m.Repository}, {"environment", m.Environment}, {"agent", m.Agent},
		{"trusted_root", rootPath}, {"data_dir", m.DataDir},
	} {
		body.SetAttributeValue(field.name, cty.StringVal(field.value))
	}
	if len(m.Mirrors) > 0 {
		urls := make([]cty.Value, len(m.Mirrors))
		for i, url := range m.Mirrors {
			urls[i] = cty.StringVal(url)
		}
		body.SetAttributeValue("mirrors", cty.ListVal(urls))
	}
	body.AppendNewline()
	token := body.AppendNewBlock("join_token", nil).Body()
	name, value := m.TokenSource.named()
	token.SetAttributeValue(name, cty.StringVal(value))
	return string(hclwrite.Format(file.Bytes()))
}

func (s secretSource) named() (name, value string) {
	switch {
	case s.Env != "":
		return "env", s.Env
	case s.SSMParameter != "":
		return "ssm_parameter", s.SSMParameter
	case s.SecretsManager != "":
		return "secrets_manager", s.SecretsManager
	case s.File != "":
		return "file", s.File
	}
	return "file", defaultTokenFile
}

// unit is hardened as far as providers allow: they run programs and write below
// the data folder and /tmp, and need the network, but nothing of the system.
var unit = template.Must(template.New("unit").Parse(`[Unit]
Description=Towline agent {{.Environment}}/{{.Agent}}
Documentation=https://github.com/towline/terraform-provider-towline
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=` + binaryPath + ` agent run -config ` + configPath + `
Restart=always
RestartSec=10
TimeoutStopSec=15min
KillMode=mixed
User=towline
Group=towline
{{- if .StateDirectory}}
StateDirectory={{.StateDirectory}}
StateDirectoryMode=0700
{{- end}}
ReadWritePaths={{.DataDir}} -` + configDir + `
# Providers run in this unit too. What one of them needs beyond it goes into a drop-in.
NoNewPrivileges=true
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome=true
ProtectProc=invisible
ProcSubset=pid
ProtectClock=true
ProtectHostname=true
ProtectKernelLogs=true
ProtectKernelModules=true
ProtectKernelTunables=true
ProtectControlGroups=true
PrivateDevices=true
PrivateTmp=true
PrivateUsers=true
RemoveIPC=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
LockPersonality=true
MemoryDenyWriteExecute=true
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
KeyringMode=private
UMask=0077
LimitCORE=1
# A provider that the kernel ends for want of memory does not end the agent.
OOMPolicy=continue

[Install]
WantedBy=multi-user.target
`))

func systemdUnit(m machine) (string, error) {
	var out strings.Builder
	directory, below := strings.CutPrefix(m.DataDir, "/var/lib/")
	if !below {
		directory = ""
	}
	err := unit.Execute(&out, struct {
		machine
		StateDirectory string
	}{m, directory})
	if err != nil {
		return "", fmt.Errorf("rendering the systemd unit: %w", err)
	}
	return out.String(), nil
}

// cloudConfig is the part of cloud-init's format that the bootstrap uses.
type cloudConfig struct {
	Users      []any       `yaml:"users"`
	WriteFiles []cloudFile `yaml:"write_files"`
	RunCmd     [][]string  `yaml:"runcmd"`
}

type cloudFile struct {
	Path        string `yaml:"path"`
	Permissions string `yaml:"permissions"`
	Content     string `yaml:"content"`
}

type cloudUser struct {
	Name   string `yaml:"name"`
	System bool   `yaml:"system"`
	Shell  string `yaml:"shell"`
	Home   string `yaml:"homedir"`
	NoHome bool   `yaml:"no_create_home"`
}

// cloudInit renders user data that makes a fresh machine the agent's. The files
// are readable by all because none holds a secret.
func cloudInit(m machine) (string, error) {
	serviceUnit, err := systemdUnit(m)
	if err != nil {
		return "", err
	}
	config := cloudConfig{
		Users: []any{"default", cloudUser{"towline", true, "/usr/sbin/nologin", m.DataDir, true}},
		WriteFiles: []cloudFile{
			{configPath, "0644", agentConfig(m)},
			{rootPath, "0644", m.TrustedRoot},
			{unitPath, "0644", serviceUnit},
		},
		RunCmd: append(m.Download.commands(),
			[]string{"install", "-d", "-o", "towline", "-g", "towline", "-m", "0700", m.DataDir},
			[]string{"chown", "towline:towline", configDir},
			[]string{"systemctl", "daemon-reload"},
			[]string{"systemctl", "enable", "--now", path.Base(unitPath)},
		),
	}
	text, err := yaml.Marshal(config)
	if err != nil {
		return "", fmt.Errorf("rendering the user data: %w", err)
	}
	return "#cloud-config\n" + string(text), nil
}

// commands fetch the program and refuse it unless its digest is right.
func (d download) commands() [][]string {
	if d.URL == "" {
		return nil
	}
	const part = binaryPath + ".part"
	return [][]string{
		{"curl", "--fail", "--silent", "--show-error", "--location", "--retry", "5", "--output", part, "--", d.URL},
		{"sh", "-c", "echo '" + d.SHA256 + "  " + part + "' | sha256sum --check --strict || rm -f " + part},
		{"install", "-m", "0755", part, binaryPath},
		{"rm", "-f", part},
	}
}
