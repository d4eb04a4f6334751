package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	remote "golang.org/x/crypto/ssh"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
	"github.com/cluster-init/cluster-init/pkg/internal/sshserver"
	"github.com/cluster-init/cluster-init/pkg/output"
)

// script writes a program, and returns its path.
func script(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// asRootUser returns a PATH in which a stand-in for id says that the user is root.
func asRootUser(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	script(t, folder, "id", "echo 0")
	return folder + ":" + os.Getenv("PATH")
}

// asSudoer returns a PATH in which the user is not root, and sudo is a stand-in that logs its arguments to file.
func asSudoer(t testing.TB, sudo string) (path, file string) {
	t.Helper()
	folder := t.TempDir()
	file = filepath.Join(folder, "log")
	script(t, folder, "id", "echo 1000")
	script(t, folder, "sudo", fmt.Sprintf(sudo, file))
	return folder + ":" + os.Getenv("PATH"), file
}

const (
	// sudoer logs, insists on -n and --, and runs the program. It reads all input, as some sudo do, of `true`.
	sudoer = `echo "$*" >>%s
test "$1 $2" = "-n --" || exit 9
shift 2
if test "$1" = true; then cat >/dev/null; fi
exec "$@"`
	refuser = `echo "$*" >>%s
echo "sudo: a password is required" >&2
exit 1`
)

// shell is the machine: it runs a line as sshd does, with the user's shell.
func shell(path string) sshserver.Answer {
	return func(channel remote.Channel, line string) uint32 {
		cmd := exec.Command("sh", "-c", line)
		cmd.Env = []string{"PATH=" + path}
		cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
		input, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return 99
		}
		go func() { _, _ = io.Copy(input, channel); _ = input.Close() }() // not awaited: the client may send no end
		_ = cmd.Wait()
		return uint32(cmd.ProcessState.ExitCode())
	}
}

// connect returns a client of a server. The real ssh runs with a configuration of its own instead of the user's.
func connect(t *testing.T, s sshserver.Server, key, known string) *Client {
	t.Helper()
	program := prerequisite.Program(t, "ssh")
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	config := filepath.Join(folder, "config")
	text := fmt.Sprintf("Host machine\n HostName %s\n Port %s\n IdentityFile %s\n IdentitiesOnly yes\n"+
		" IdentityAgent none\n UserKnownHostsFile %s\n GlobalKnownHostsFile none\n RemoteCommand false\n", host, port, key,
		known)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := Parse("admin@machine")
	if err != nil {
		t.Fatal(err)
	}
	return &Client{Destination: to, Binary: script(t, folder, "ssh", "exec "+program+" -F "+config+` "$@"`)}
}

// The real ssh brings each argument to the machine as it is, and the input.
func TestRun(t *testing.T) {
	for name, user := range map[string]func() (path, file string){
		"root":   func() (string, string) { return asRootUser(t), "" },
		"a user": func() (string, string) { return asSudoer(t, sudoer) },
	} {
		t.Run(name, func(t *testing.T) {
			path, file := user()
			s := sshserver.Start(t, t.TempDir(), "admin", shell(path))
			c := connect(t, s, s.Key, s.KnownHosts)
			got, err := c.Run(t.Context(), nil, append([]string{"printf", "[%s]"}, hostile...)...)
			if want := "[" + strings.Join(hostile, "][") + "]"; err != nil || got != want {
				t.Errorf("%q, %v\nwant %q", got, err, want)
			}
			input := strings.Repeat("\x00\xffsnapshot\n", 100_000)
			got, err = c.Run(t.Context(), strings.NewReader(input), "sh", "-euc", `wc -c; echo "$PATH"`, "sh")
			if want := fmt.Sprintf("%d\n%s\n", len(input), strings.TrimPrefix(rootPath, "PATH=")); err != nil ||
				got != want {
				t.Errorf("%q, %v\nwant %q", got, err, want)
			}
			if file == "" {
				return
			}
			if log, err := os.ReadFile(file); err != nil || !strings.Contains(string(log), "-n -- env PATH=") {
				t.Errorf("sudo had %q, %v", log, err)
			}
		})
	}
}

// A failure of the program is one of the program, whatever its exit code, and has the end of its stderr.
func TestTheProgramFails(t *testing.T) {
	s := sshserver.Start(t, t.TempDir(), "admin", shell(asRootUser(t)))
	c := connect(t, s, s.Key, s.KnownHosts)
	for script, want := range map[string]int{"exit 1": 1, "exit 252": 252, "exit 253": 252, "exit 255": 252,
		"kill -9 $$": 137, "no-such-program": 127} {
		_, err := c.Run(t.Context(), nil, "sh", "-c", "echo why >&2; "+script)
		exit, is := errors.AsType[*ExitError](err)
		if !is || exit.Code != want || !strings.HasPrefix(exit.Stderr, "why") || fault.CodeOf(err) != fault.Unknown {
			t.Errorf("%s: %+v, %v", script, exit, err)
		}
	}
	_, err := c.Run(t.Context(), nil, "sh", "-c", "while :; do echo endless; done")
	if !errors.Is(err, output.ErrTooLong) {
		t.Errorf("of a program without an end: %v", err)
	}
}

// A failure of ssh or of sudo is none of the program, and says what to do.
func TestTheMachineIsNotReached(t *testing.T) {
	root := sshserver.Start(t, t.TempDir(), "admin", shell(asRootUser(t)))
	path, _ := asSudoer(t, refuser)
	noSudo := sshserver.Start(t, t.TempDir(), "admin", shell(path))
	broken := sshserver.Start(t, t.TempDir(), "admin", func(channel remote.Channel, _ string) uint32 {
		_ = channel.Close() // without an exit code
		return 0
	})
	gone := root
	gone.Address = "127.0.0.1:1"
	for name, tc := range map[string]struct {
		client    *Client
		says, fix string
	}{
		"another host key": {connect(t, root, root.Key, root.OtherKnownHosts), "Host key verification failed",
			"Compare the host key"},
		"an unknown host key": {connect(t, root, root.Key, "/dev/null"), "Host key verification failed",
			"Compare the host key"},
		"a key that it does not know": {connect(t, root, root.OtherKey, root.KnownHosts), "Permission denied",
			"load your key"},
		"nothing listens":       {connect(t, gone, root.Key, root.KnownHosts), "refused", "ssh -v admin@machine"},
		"the connection ends":   {connect(t, broken, broken.Key, broken.KnownHosts), "ssh: exit status 255", "ssh -v"},
		"sudo wants a password": {connect(t, noSudo, noSudo.Key, noSudo.KnownHosts), "a password is required", "NOPASSWD"},
		"no ssh": {&Client{Destination: Destination{"admin@machine"}, Binary: filepath.Join(t.TempDir(), "ssh")},
			"no such file", "ssh -v"},
		"no ssh on PATH": {&Client{Destination: Destination{"admin@machine"}, Binary: "no-such-ssh"}, "not found",
			"Install the OpenSSH client"},
	} {
		out, err := tc.client.Run(t.Context(), nil, "echo", "done")
		if out != "" || fault.CodeOf(err) != fault.MachineUnreachable || !strings.Contains(err.Error(), tc.says) ||
			!strings.Contains(fault.HintOf(err), tc.fix) {
			t.Errorf("%s: %q, %v\nhint: %s", name, out, err, fault.HintOf(err))
		}
	}
}

// The end of the context ends ssh, and is the cause.
func TestRunEnds(t *testing.T) {
	started := make(chan struct{})
	s := sshserver.Start(t, t.TempDir(), "admin", func(remote.Channel, string) uint32 {
		close(started)
		<-t.Context().Done()
		return 0
	})
	c := connect(t, s, s.Key, s.KnownHosts)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-started; cancel(errors.New("enough")) }()
	if _, err := c.Run(ctx, nil, "cat"); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Error(err)
	}
}

// A machine that hangs is not reached.
func TestRunTakesTooLong(t *testing.T) {
	s := sshserver.Start(t, t.TempDir(), "admin", func(remote.Channel, string) uint32 {
		<-t.Context().Done()
		return 0
	})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := connect(t, s, s.Key, s.KnownHosts).Run(ctx, nil, "cat")
	if fault.CodeOf(err) != fault.MachineUnreachable || fault.HintOf(err) == "" || !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
}

// A client without a destination runs nothing, and the options keep their values whatever the destination is.
func TestArguments(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	// a stand-in for ssh that writes its arguments
	standIn := script(t, t.TempDir(), "ssh", `printf '%s\n' "$@" >`+log)
	if _, err := (&Client{Binary: standIn}).Run(t.Context(), nil, "id"); err == nil {
		t.Error("it runs without a destination")
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("ssh was started without a destination")
	}
	c := &Client{Destination: Destination{"-oProxyCommand=id"}, Binary: standIn}
	if _, err := c.Run(t.Context(), nil, "id"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(string(text), "\n")
	for _, option := range []string{"BatchMode=yes", "ConnectTimeout=20", "RemoteCommand=none"} {
		if !strings.Contains(string(text), "\n-o\n"+option+"\n") {
			t.Errorf("option %s is missing in %q", option, args)
		}
	}
	if strings.Contains(string(text), "StrictHostKeyChecking") || strings.Contains(string(text), "KnownHostsFile") {
		t.Errorf("it changes how host keys are checked: %q", args)
	}
	if !strings.Contains(string(text), "\n--\n-oProxyCommand=id\nsh -c ") {
		t.Errorf("the destination may be an option: %q", args)
	}
}
