package kind

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// fakeDocker puts a script in the place of the docker CLI, which kind runs: an engine that has every image and no
// container until `docker run`, for which onRun answers. It returns the file that holds the calls.
func fakeDocker(t *testing.T, onRun string) (calls string) {
	t.Helper()
	folder := t.TempDir()
	calls = filepath.Join(folder, "calls")
	script := `#!/bin/sh
echo "$*" >>` + calls + `
case "$1 $2" in
"info "*) echo '{"CgroupDriver":"systemd","MemoryLimit":true,"PidsLimit":true,"CPUShares":true,"SecurityOptions":[]}' ;;
"network ls") echo 0123456789ab ;;
"network inspect") echo '[{"Name":"kind","ID":"0123456789ab","Created":"2026-01-01T00:00:00Z"}]' ;;
"ps "*) if [ -e ` + folder + `/running ]; then echo test-control-plane; fi ;;
"rm "*) rm -f ` + folder + `/running ;;
"run "*) cd ` + folder + `
` + onRun + ` ;;
esac
`
	if err := os.WriteFile(filepath.Join(folder, "docker"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return calls
}

// daemon is a script that fails as the CLI does when the daemon refuses to start a container.
func daemon(says string) string {
	return "echo 'docker: Error response from daemon: " + says + "' >&2; exit 125"
}

func TestCreateExplainsWhatTheEngineRefuses(t *testing.T) {
	cases := map[string]struct {
		onRun string
		code  fault.Code
		says  string
		hint  string
	}{
		"user namespaces": {daemon("privileged mode is incompatible with user namespaces."), fault.DockerPrivileged,
			"incompatible with user namespaces", "privileged containers"},
		"no capabilities": {daemon(
			"OCI runtime create failed: unable to apply caps: operation not permitted: unknown."),
			fault.DockerPrivileged, "unable to apply caps", "privileged containers"},
		"port taken": {daemon("driver failed programming external connectivity: Bind for 127.0.0.1:6443 failed: " +
			"port is already allocated."), fault.PortTaken, "127.0.0.1:6443", "--api-server-port"},
		"port in use": {daemon("listen tcp4 127.0.0.1:6443: bind: address already in use."), fault.PortTaken,
			"127.0.0.1:6443", "--api-server-port"},
		"engine went": {"echo 'Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?' " +
			">&2; exit 1", fault.DockerUnreachable, "unix:///x", "docker info"},
		"anything else": {daemon("no space left on device."), fault.ClusterFailed, "no space left", "docker logs"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fakeDocker(t, tc.onRun)
			err := New(func(string) {}).Create(t.Context(), Config{Name: "test", NodeImage: "node"}, time.Minute,
				made(true))
			if fault.CodeOf(err) != tc.code || !strings.Contains(fault.HintOf(err), tc.hint) {
				t.Errorf("code %q, hint %q: %v", fault.CodeOf(err), fault.HintOf(err), err)
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "cluster test") {
				t.Errorf("error %v names neither the cluster nor what the engine said", err)
			}
		})
	}
}

func made(own bool) func(context.Context) (bool, error) {
	return func(context.Context) (bool, error) { return own, nil }
}

// Two runs at the same moment: the one that comes second must leave the node of the other alone.
func TestOnlyTheOwnNodeIsDeleted(t *testing.T) {
	taken := "touch running; " + daemon("Conflict. The container name /test-control-plane is already in use by "+
		"container 0123.")
	silent := func(context.Context) (bool, error) { return false, errors.New("the engine does not answer") }
	for name, tc := range map[string]struct {
		own     func(context.Context) (bool, error)
		deleted bool
	}{"its own": {made(true), true}, "another run's": {made(false), false}, "not known": {silent, false}} {
		t.Run(name, func(t *testing.T) {
			calls := fakeDocker(t, taken)
			err := New(func(string) {}).Create(t.Context(), Config{Name: "test", NodeImage: "node"}, time.Minute,
				tc.own)
			if fault.CodeOf(err) != fault.Busy {
				t.Errorf("code %q: %v", fault.CodeOf(err), err)
			}
			text, readErr := os.ReadFile(calls)
			if readErr != nil || strings.Contains(string(text), "\nrm ") != tc.deleted {
				t.Errorf("deleted is not %t (%v):\n%s", tc.deleted, readErr, text)
			}
		})
	}
}

// An engine under load says that it could not delete a container, which it has killed.
func TestDeleteTriesASecondTime(t *testing.T) {
	calls := fakeDocker(t, "")
	folder := filepath.Dir(calls)
	running := filepath.Join(folder, "running")
	if err := os.WriteFile(running, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removal(t, calls, "if [ ! -e "+folder+"/killed ]; then touch "+folder+"/killed; echo 'did not receive an exit "+
		"event' >&2; exit 1; fi; rm -f "+running)
	if err := New(func(string) {}).Delete(t.Context(), "test"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(running); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the node is left: %v", err)
	}
}

func TestNoDockerCLI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := New(func(string) {}).Exists(t.Context(), "test"); fault.CodeOf(err) != fault.DockerUnreachable {
		t.Errorf("code %q: %v", fault.CodeOf(err), err)
	}
}

// interrupt creates a cluster, ends its context when the node runs, and returns the error of Create.
func interrupt(t *testing.T, calls string, own func(context.Context) (bool, error)) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- New(func(string) {}).Create(ctx, Config{Name: "test", NodeImage: "node"}, time.Minute, own)
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	bound := time.After(20 * time.Second)
	for started := false; !started; {
		select {
		case <-bound:
			t.Fatal("kind never started its node")
		case <-tick.C:
			_, err := os.Stat(filepath.Join(filepath.Dir(calls), "running"))
			started = err == nil
		}
	}
	cancel()
	select {
	case err := <-ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("Create did not end")
	}
	return nil
}

// kind takes no context: its node is taken away instead, so that it gives up.
func TestCreateEndsWithItsContext(t *testing.T) {
	calls := fakeDocker(t, "touch running; while [ -e running ]; do sleep 0.05; done; echo gone >&2; exit 137")
	err := interrupt(t, calls, made(true))
	if err == nil || err.Error() != "creating the kind cluster test: context canceled" {
		t.Errorf("got %v, want the context's error alone", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(calls), "running")); err == nil {
		t.Error("the node is still there")
	}
}

// A node that is left after an interruption would be a surprise for the next run: the error names it.
func TestAnInterruptionReportsANodeThatIsLeft(t *testing.T) {
	const onRun = "touch running; while [ ! -e refused ]; do sleep 0.05; done; echo gone >&2; exit 137"
	for name, test := range map[string]struct {
		ownErr error
		says   string
	}{
		"the engine refuses":          {nil, "device or resource busy"},
		"it is not known whose it is": {errors.New("the engine does not answer"), "the engine does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			calls := fakeDocker(t, onRun)
			removal(t, calls, "touch "+filepath.Dir(calls)+`/refused; echo "device or resource busy" >&2; exit 1`)
			err := interrupt(t, calls, func(context.Context) (bool, error) { // it ends kind's wait
				return true, errors.Join(test.ownErr,
					os.WriteFile(filepath.Join(filepath.Dir(calls), "refused"), nil, 0o600))
			})
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), test.says) ||
				!strings.Contains(err.Error(), "test-control-plane may be left: ") {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

// removal makes the engine of fakeDocker run a script for each removal.
func removal(t *testing.T, calls, does string) {
	t.Helper()
	path := filepath.Join(filepath.Dir(calls), "docker")
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(script), `"rm "*) rm -f `+filepath.Dir(calls)+`/running ;;`,
		`"rm "*) `+does+` ;;`, 1)
	if other == string(script) {
		t.Fatal("the script has no removal")
	}
	if err := os.WriteFile(path, []byte(other), 0o700); err != nil {
		t.Fatal(err)
	}
}

// kind pulls four times, with pauses, before it says this.
func TestAnImageThatCannotBePulledHasItsOwnHint(t *testing.T) {
	err := explain(
		errors.New(
			`ERROR: failed to pull image "node:v1": command "docker pull node:v1" failed with error: exit status 1`))
	if fault.CodeOf(err) != fault.ClusterFailed || !strings.Contains(fault.HintOf(err), "--bundle") {
		t.Errorf("code %q, hint %q", fault.CodeOf(err), fault.HintOf(err))
	}
}
