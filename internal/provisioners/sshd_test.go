package provisioners

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
	"golang.org/x/crypto/ssh"
)

// server is a real OpenSSH server on the loopback interface.
type server struct {
	port          int
	login         string
	key, hostKey  string // private key of the user, public key of the host
	authorizedKey string
}

// startServer starts sshd for the test. A missing sshd fails it.
func startServer(t *testing.T) server {
	t.Helper()
	sshd := findServer(t)
	dir := t.TempDir()
	hostPrivate, hostPublic := newKey(t)
	userPrivate, userPublic := newKey(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := server{port: freePort(t), login: me.Username, key: userPrivate, hostKey: hostPublic, authorizedKey: userPublic}
	write(t, filepath.Join(dir, "host"), hostPrivate, 0o600)
	write(t, filepath.Join(dir, "keys"), userPublic, 0o600)
	config := fmt.Sprintf("ListenAddress 127.0.0.1\nPort %d\nHostKey %[2]s/host\nPidFile none\nAuthorizedKeysFile %[2]s/keys\nStrictModes no\n"+
		"UsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\nSubsystem sftp internal-sftp\nMaxStartups 100\n", s.port, dir)
	write(t, filepath.Join(dir, "config"), config, 0o600)
	if os.Geteuid() == 0 { // where sshd, as root, locks up what has not logged in yet
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(sshd, "-D", "-e", "-f", filepath.Join(dir, "config"))
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return s
}

func findServer(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"sshd", "/usr/sbin/sshd", "/usr/local/sbin/sshd"} {
		if found, err := exec.LookPath(name); err == nil {
			if found, err = filepath.Abs(found); err == nil {
				return found // it must know its own path to start again
			}
		}
	}
	t.Fatal("no OpenSSH server is installed: these tests log in on a real one (Debian: openssh-server)")
	return ""
}

func newKey(t *testing.T) (private, public string) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(key))
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return portNumber(t, l.Addr())
}

func portNumber(t *testing.T, addr net.Addr) int {
	t.Helper()
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		t.Fatalf("%s is no TCP address", addr)
	}
	return tcp.Port
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// connection returns a connection block to the server, with changes.
func (s server) connection(changes map[string]cty.Value) cty.Value {
	attrs := map[string]cty.Value{
		"host": cty.StringVal("127.0.0.1"), "port": cty.NumberIntVal(int64(s.port)), "user": cty.StringVal(s.login),
		"private_key": cty.StringVal(s.key), "host_key": cty.StringVal(s.hostKey), "agent": cty.False, "timeout": cty.StringVal("20s"),
	}
	for name, v := range changes {
		attrs[name] = v
	}
	return object(ConnectionSchema().ImpliedType(), attrs)
}

// object fills an object type with values, null where there is none.
func object(ty cty.Type, attrs map[string]cty.Value) cty.Value {
	out := map[string]cty.Value{}
	for name, aty := range ty.AttributeTypes() {
		out[name] = cty.NullVal(aty)
	}
	for name, v := range attrs {
		out[name] = v
	}
	return cty.ObjectVal(out)
}

// run runs a provisioner and returns its output and the texts of its problems.
func run(ctx context.Context, t *testing.T, kind string, config map[string]cty.Value, conn cty.Value) (lines []string, problems string) {
	t.Helper()
	p := Builtin()[kind]
	output := make(chan string, 10_000)
	diags := p.Run(ctx, Request{Config: object(p.Schema().ImpliedType(), config), Connection: conn, Output: func(line string) { output <- line }})
	close(output)
	for line := range output {
		lines = append(lines, line)
	}
	if diags.HasErrors() {
		problems = diags.Err().Error()
	}
	return lines, problems
}

var noConnection = cty.NullVal(ConnectionSchema().ImpliedType())

// soon bounds what a test waits for.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
