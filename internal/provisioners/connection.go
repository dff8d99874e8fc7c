package provisioners

import (
	"fmt"
	"net"
	"os/user"
	"strconv"
	"time"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"

	"github.com/towline/terraform-provider-towline/internal/providers"
	"github.com/towline/terraform-provider-towline/internal/tfdiags"
)

// defaultTimeout is how long a machine gets to answer: it may have just been made.
const defaultTimeout = 5 * time.Minute

// ConnectionSchema describes a connection block.
func ConnectionSchema() *providers.Block {
	attrs := map[string]cty.Type{"port": cty.Number, "proxy_port": cty.Number, "bastion_port": cty.Number}
	for _, name := range []string{
		"type", "user", "password", "host", "timeout", "script_path", "target_platform", "private_key", "certificate", "host_key",
		"agent_identity", "proxy_scheme", "proxy_host", "proxy_user_name", "proxy_user_password", "bastion_host", "bastion_host_key",
		"bastion_user", "bastion_password", "bastion_private_key", "bastion_certificate", "cacert",
	} {
		attrs[name] = cty.String
	}
	for _, name := range []string{"agent", "https", "insecure", "use_ntlm"} {
		attrs[name] = cty.Bool
	}
	return optional(attrs, "host")
}

// settings are a connection block with its defaults.
type settings struct {
	machine
	timeout    time.Duration
	scriptPath string
	useAgent   bool
	// identity chooses one of the agent's keys by its comment or the name of its public key file.
	identity string
	bastion  *machine
	proxy    *proxy
}

// machine is one SSH server and how to log in there.
type machine struct {
	addr, user, password string
	key, certificate     string
	// hostKey is the only key that the server may show; "" accepts any, as Terraform does.
	hostKey string
}

// newSettings reads an object of [ConnectionSchema].
func newSettings(conn cty.Value) (settings, tfdiags.Diagnostics) {
	refuse := func(detail string) (settings, tfdiags.Diagnostics) {
		return settings{}, tfdiags.New(tfdiags.Error, "Invalid connection", detail)
	}
	if conn.IsNull() {
		return refuse("The provisioner works on another machine, but neither it nor the resource has a connection block. Add one that says at least the host.")
	}
	if kind := text(conn, "type"); kind != "" && kind != "ssh" {
		return refuse(fmt.Sprintf("The connection type %q is not supported, only ssh is. Windows has an OpenSSH server too.", kind))
	}
	if text(conn, "host") == "" {
		return refuse("The host of the connection is empty. Set it to the machine's name or address.")
	}
	s := settings{timeout: defaultTimeout, scriptPath: text(conn, "script_path"), useAgent: true, identity: text(conn, "agent_identity")}
	if given := text(conn, "timeout"); given != "" {
		d, err := time.ParseDuration(given)
		if err != nil {
			return refuse(fmt.Sprintf("The timeout %q is not a duration such as 30s or 5m.", given))
		}
		s.timeout = d
	}
	if v := conn.GetAttr("agent"); !v.IsNull() {
		s.useAgent = v.True()
	}
	login := "root"
	switch platform := text(conn, "target_platform"); platform {
	case "", "unix":
		s.scriptPath = orDefault(s.scriptPath, "/tmp/towline_%RAND%.sh")
	case "windows":
		s.scriptPath = orDefault(s.scriptPath, "C:/windows/temp/towline_%RAND%.cmd")
		login = "Administrator"
	default:
		return refuse(fmt.Sprintf("The target_platform %q is neither unix nor windows.", platform))
	}
	s.machine = newMachine(conn, "", login)
	if host := text(conn, "bastion_host"); host != "" {
		b := newMachine(conn, "bastion_", s.user)
		b.password, b.key = orDefault(b.password, s.password), orDefault(b.key, s.key)
		s.bastion = &b
	}
	p, diags := newProxy(conn)
	s.proxy = p
	return s, diags
}

func newMachine(conn cty.Value, prefix, login string) machine {
	return machine{
		addr: net.JoinHostPort(text(conn, prefix+"host"), portOf(conn, prefix+"port", 22)),
		user: orDefault(text(conn, prefix+"user"), login), password: text(conn, prefix+"password"),
		key: text(conn, prefix+"private_key"), certificate: text(conn, prefix+"certificate"), hostKey: text(conn, prefix+"host_key"),
	}
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func portOf(conn cty.Value, name string, otherwise int) string {
	if v := conn.GetAttr(name); !v.IsNull() {
		return v.AsBigFloat().Text('f', -1)
	}
	return strconv.Itoa(otherwise)
}

// clientConfig turns a machine into what the SSH library wants.
func (s settings) clientConfig(m machine, keys *agentKeys) (*ssh.ClientConfig, error) {
	config := &ssh.ClientConfig{User: m.user, Timeout: dialTimeout, HostKeyCallback: ssh.InsecureIgnoreHostKey()} //nolint:gosec // as Terraform: without host_key any is accepted
	if config.User == "" {
		if current, err := user.Current(); err == nil {
			config.User = current.Username
		}
	}
	if m.hostKey != "" {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(m.hostKey))
		if err != nil {
			return nil, fmt.Errorf("read the host key: %w", err)
		}
		config.HostKeyCallback = ssh.FixedHostKey(key)
	}
	if m.key != "" {
		signer, err := m.signer()
		if err != nil {
			return nil, err
		}
		config.Auth = append(config.Auth, ssh.PublicKeys(signer))
	}
	if keys != nil {
		config.Auth = append(config.Auth, ssh.PublicKeysCallback(keys.signers))
	}
	if m.password != "" {
		config.Auth = append(config.Auth, ssh.Password(m.password), ssh.KeyboardInteractive(func(_, _ string, questions []string, _ []bool) ([]string, error) {
			answers := make([]string, len(questions))
			for i := range answers {
				answers[i] = m.password
			}
			return answers, nil
		}))
	}
	return config, nil
}

// signer returns the machine's private key, with its certificate if it has one.
func (m machine) signer() (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey([]byte(m.key))
	if err != nil {
		return nil, fmt.Errorf("read the private key: %w", err)
	}
	if m.certificate == "" {
		return signer, nil
	}
	parsed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(m.certificate))
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	cert, ok := parsed.(*ssh.Certificate)
	if !ok {
		return nil, fmt.Errorf("the certificate is a plain %s key", parsed.Type())
	}
	signer, err = ssh.NewCertSigner(cert, signer)
	if err != nil {
		return nil, fmt.Errorf("use the certificate: %w", err)
	}
	return signer, nil
}
