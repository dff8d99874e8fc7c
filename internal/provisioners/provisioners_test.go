package provisioners

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"
)

func TestLocalExec(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		config map[string]cty.Value
		want   []string
		wrong  string
	}{
		"order of both outputs":  {map[string]cty.Value{"command": cty.StringVal("echo a; echo b >&2; printf c")}, []string{`Executing: ["/bin/sh" "-c" "echo a; echo b >&2; printf c"]`, "a", "b", "c"}, ""},
		"quiet":                  {map[string]cty.Value{"command": cty.StringVal("echo a"), "quiet": cty.True}, []string{"local-exec: Executing: Suppressed by quiet=true", "a"}, ""},
		"environment and folder": {map[string]cty.Value{"command": cty.StringVal("echo $A; pwd"), "environment": cty.MapVal(map[string]cty.Value{"A": cty.StringVal("x"), "B": cty.NullVal(cty.String)}), "working_dir": cty.StringVal("/"), "quiet": cty.True}, []string{"local-exec: Executing: Suppressed by quiet=true", "x", "/"}, ""},
		"interpreter":            {map[string]cty.Value{"command": cty.StringVal("a b"), "interpreter": cty.ListVal([]cty.Value{cty.StringVal("echo"), cty.StringVal("-n")})}, []string{`Executing: ["echo" "-n" "a b"]`, "a b"}, ""},
		"failure":                {map[string]cty.Value{"command": cty.StringVal("echo nope; exit 3"), "quiet": cty.True}, []string{"local-exec: Executing: Suppressed by quiet=true", "nope"}, "Error running command 'echo nope; exit 3': exit status 3. Output: nope\n"},
		"no command":             {map[string]cty.Value{"command": cty.StringVal("")}, nil, "The command is empty"},
		"no interpreter":         {map[string]cty.Value{"command": cty.StringVal("x"), "interpreter": cty.ListVal([]cty.Value{cty.StringVal("/nowhere/sh")}), "quiet": cty.True}, []string{"local-exec: Executing: Suppressed by quiet=true"}, "no such file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := run(soon(t), t, "local-exec", test.config, noConnection)
			if !slices.Equal(got, test.want) {
				t.Errorf("output %q, want %q", got, test.want)
			}
			if (problems == "") != (test.wrong == "") || !strings.Contains(problems, test.wrong) {
				t.Errorf("problems %q, want %q", problems, test.wrong)
			}
		})
	}
}

// A command ends with its context, together with what it has started.
func TestLocalExecEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan string, 10)
	p := localExec{}
	done := make(chan error)
	go func() {
		config := object(p.Schema().ImpliedType(), map[string]cty.Value{"command": cty.StringVal("sleep 600 & echo $!; wait"), "quiet": cty.True})
		done <- p.Run(ctx, Request{Config: config, Connection: noConnection, Output: func(line string) { started <- line }}).Err()
	}()
	<-started // what is executed
	child, err := strconv.Atoi(<-started)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a killed command counts as done")
	}
	for range 1000 { // it was killed, and the system may need a moment to end it
		state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(child), "stat"))
		if err != nil || strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("what the command has started still runs: %d", child)
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	pieces := 0
	l := newLines(func(line string) {
		pieces++
		if len(line) > 2*maxLine {
			t.Errorf("a line of %d bytes", len(line))
		}
	})
	for range 100 {
		_, _ = l.Write([]byte(strings.Repeat("x", maxLine/2)))
	}
	l.flush()
	if pieces < 30 || len(l.tail()) != maxTail {
		t.Errorf("%d pieces, a tail of %d bytes", pieces, len(l.tail()))
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	list := cty.ListVal([]cty.Value{cty.StringVal("x")})
	tests := map[string]struct {
		kind   string
		config map[string]cty.Value
		want   string
	}{
		"file with both":          {"file", map[string]cty.Value{"source": cty.StringVal("a"), "content": cty.StringVal("b")}, "Cannot set both 'source' and 'content'"},
		"file with neither":       {"file", nil, "Must provide one of 'source' or 'content'"},
		"file with unknown":       {"file", map[string]cty.Value{"source": cty.UnknownVal(cty.String)}, ""},
		"remote-exec with both":   {"remote-exec", map[string]cty.Value{"inline": list, "script": cty.StringVal("b")}, "Invalid remote-exec provisioner configuration"},
		"remote-exec with none":   {"remote-exec", nil, "Invalid remote-exec provisioner configuration"},
		"remote-exec with inline": {"remote-exec", map[string]cty.Value{"inline": list}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Builtin()[test.kind]
			diags := p.Validate(object(p.Schema().ImpliedType(), test.config))
			got := ""
			if len(diags) > 0 {
				got = diags[0].Summary
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestRemoteExec(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one"), "#!/bin/sh\necho one\n", 0o600)
	write(t, filepath.Join(dir, "two"), "#!/bin/sh\necho two; exit 7\n", 0o600)
	script := cty.StringVal(filepath.Join(dir, "s_%RAND%.sh"))
	tests := map[string]struct {
		config map[string]cty.Value
		want   []string
		wrong  string
	}{
		"inline":  {map[string]cty.Value{"inline": cty.ListVal([]cty.Value{cty.StringVal("A=x"), cty.StringVal("echo $A; echo y >&2")})}, []string{"x", "y"}, ""},
		"script":  {map[string]cty.Value{"script": cty.StringVal(filepath.Join(dir, "one"))}, []string{"one"}, ""},
		"scripts": {map[string]cty.Value{"scripts": cty.ListVal([]cty.Value{cty.StringVal(filepath.Join(dir, "one")), cty.StringVal(filepath.Join(dir, "two"))})}, []string{"one", "two"}, "Process exited with status 7"},
		"absent":  {map[string]cty.Value{"script": cty.StringVal(filepath.Join(dir, "none"))}, nil, "open script"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, problems := run(soon(t), t, "remote-exec", test.config, s.connection(map[string]cty.Value{"script_path": script}))
			got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "Connect") })
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("output %q, want %q", got, test.want)
			}
			if (problems == "") != (test.wrong == "") || !strings.Contains(problems, test.wrong) {
				t.Errorf("problems %q, want %q", problems, test.wrong)
			}
		})
	}
	t.Cleanup(func() {
		if left, _ := filepath.Glob(filepath.Join(dir, "s_*")); len(left) > 0 {
			t.Errorf("scripts were left behind: %s", left)
		}
	})
}

func TestFile(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	source, there := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(source, "tree", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(source, "tree", "deep", "leaf"), "leaf", 0o750)
	write(t, filepath.Join(source, "single"), "single", 0o600)
	for name, config := range map[string][2]string{
		"out":          {"content", "text"},
		"copied":       {"source", filepath.Join(source, "single")},
		"inside/":      {"source", filepath.Join(source, "single")},
		"with-folder":  {"source", filepath.Join(source, "tree")},
		"only-content": {"source", filepath.Join(source, "tree") + "/"},
	} {
		if strings.HasSuffix(name, "/") {
			if err := os.Mkdir(filepath.Join(there, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_, problems := run(soon(t), t, "file", map[string]cty.Value{config[0]: cty.StringVal(config[1]), "destination": cty.StringVal(filepath.Join(there, name))}, s.connection(nil))
		if problems != "" {
			t.Errorf("%s: %s", name, problems)
		}
	}
	for name, want := range map[string]string{
		"out": "text", "copied": "single", "inside/single": "single", "with-folder/tree/deep/leaf": "leaf", "only-content/deep/leaf": "leaf",
	} {
		if got, err := os.ReadFile(filepath.Join(there, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
	if info, err := os.Stat(filepath.Join(there, "only-content/deep/leaf")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode is not kept: %v %v", info, err)
	}
	if _, problems := run(soon(t), t, "file", map[string]cty.Value{"content": cty.StringVal("x"), "destination": cty.StringVal(filepath.Join(there, "none", "x"))}, s.connection(nil)); !strings.Contains(problems, "create") {
		t.Errorf("a folder that is not there: %q", problems)
	}
}

func TestConnectionMistakes(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	_, otherHost := newKey(t)
	inline := map[string]cty.Value{"inline": cty.ListVal([]cty.Value{cty.StringVal("true")})}
	short := cty.StringVal("1ms")
	for name, test := range map[string]struct {
		conn cty.Value
		want string
	}{
		"none":           {noConnection, "neither it nor the resource has a connection block"},
		"WinRM":          {s.connection(map[string]cty.Value{"type": cty.StringVal("winrm")}), "not supported, only ssh is"},
		"no host":        {s.connection(map[string]cty.Value{"host": cty.StringVal("")}), "host of the connection is empty"},
		"timeout":        {s.connection(map[string]cty.Value{"timeout": cty.StringVal("soon")}), "not a duration"},
		"platform":       {s.connection(map[string]cty.Value{"target_platform": cty.StringVal("amiga")}), "neither unix nor windows"},
		"proxy":          {s.connection(map[string]cty.Value{"proxy_host": cty.StringVal("p"), "proxy_scheme": cty.StringVal("gopher")}), "none of http, https and socks5"},
		"broken key":     {s.connection(map[string]cty.Value{"private_key": cty.StringVal("x")}), "read the private key"},
		"other host key": {s.connection(map[string]cty.Value{"host_key": cty.StringVal(otherHost), "timeout": short}), "no connection within 1ms"},
		"nobody there":   {s.connection(map[string]cty.Value{"port": cty.NumberIntVal(1), "timeout": short}), "no connection within 1ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, got := run(soon(t), t, "remote-exec", inline, test.conn); !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q in it", got, test.want)
			}
			if _, got := run(soon(t), t, "remote-exec", inline, test.conn); strings.Contains(got, "PRIVATE KEY") {
				t.Error("a private key is told")
			}
		})
	}
}

// The machine may stand behind another one, and behind a proxy.
func TestConnectionThrough(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	tunnel := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, ok := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth(); !ok || name != "u" || password != "p" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		far, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		near, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = near.Write([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		join(near, far)
	}))
	t.Cleanup(tunnel.Close)
	proxyPort := cty.NumberIntVal(int64(portNumber(t, tunnel.Listener.Addr())))
	inline := map[string]cty.Value{"inline": cty.ListVal([]cty.Value{cty.StringVal("echo $SSH_CONNECTION")})}
	proxied := func(password string) map[string]cty.Value {
		return map[string]cty.Value{
			"proxy_host": cty.StringVal("127.0.0.1"), "proxy_port": proxyPort, "timeout": cty.StringVal("5s"),
			"proxy_user_name": cty.StringVal("u"), "proxy_user_password": cty.StringVal(password),
		}
	}
	for name, test := range map[string]struct {
		changes map[string]cty.Value
		wrong   string
	}{
		"a bastion":              {map[string]cty.Value{"bastion_host": cty.StringVal("127.0.0.1"), "bastion_port": cty.NumberIntVal(int64(s.port)), "bastion_host_key": cty.StringVal(s.hostKey)}, ""},
		"a proxy":                {proxied("p"), ""},
		"a proxy that is closed": {proxied("wrong"), "407"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, problems := run(soon(t), t, "remote-exec", inline, s.connection(test.changes))
			if (problems == "") != (test.wrong == "") || !strings.Contains(problems, test.wrong) {
				t.Errorf("problems %q, want %q (output %q)", problems, test.wrong, lines)
			}
		})
	}
}

func join(a, b net.Conn) {
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			_ = pair[0].Close()
		}()
	}
}

// A login may use a key that only a running agent holds.
func TestConnectionByAgent(t *testing.T) {
	s := startServer(t)
	dir := t.TempDir()
	socket, key := filepath.Join(dir, "agent"), filepath.Join(dir, "key")
	write(t, key, s.key, 0o600)
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Setenv("SSH_AUTH_SOCK", socket)
	for ctx := soon(t); ; {
		out, err := exec.CommandContext(ctx, "ssh-add", key).CombinedOutput()
		if err == nil {
			break
		}
		if ctx.Err() != nil { // the agent has not opened its socket in all this time
			t.Fatalf("%s: %s", err, out)
		}
	}
	inline := map[string]cty.Value{"inline": cty.ListVal([]cty.Value{cty.StringVal("true")})}
	conn := map[string]cty.Value{"private_key": cty.NullVal(cty.String), "agent": cty.True, "agent_identity": cty.StringVal(key)}
	if _, problems := run(soon(t), t, "remote-exec", inline, s.connection(conn)); problems != "" {
		t.Error(problems)
	}
}
