package container

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func example() Daemon {
	return Daemon{Name: "nova-api", Args: []string{"/usr/bin/nova-api", "--config-file", "/state/nova.conf"},
		Env: []string{"PASSWORD=SECRET"}, Mounts: []string{"/from:/to:ro"}}
}

// Everyone can read the arguments of every process.
func TestTheEnvironmentIsNoArgument(t *testing.T) {
	daemon := example()
	args := strings.Join(Engine{Image: "image", Mounts: []string{"/state"}}.run(daemon), " ")
	if strings.Contains(args, "SECRET") || !strings.Contains(args, "--env-file /dev/stdin") {
		t.Error(args)
	}
	if got := string(environmentOf(daemon)); got != "PASSWORD=SECRET\n" {
		t.Errorf("stdin is %q", got)
	}
}

func TestTheProgramComesLast(t *testing.T) {
	args := Engine{Image: "image", Mounts: []string{"/state", "/packages"}}.run(example(), "--detach")
	want := []string{"--volume", "/state:/state", "--volume", "/packages:/packages", "--volume", "/from:/to:ro",
		"--entrypoint", "/usr/bin/nova-api", "image", "--config-file", "/state/nova.conf"}
	if got := args[len(args)-len(want):]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.Contains(args, "--detach") || slices.Contains(args, "--privileged") {
		t.Errorf("%q", args)
	}
}

func TestOnlyADaemonOnTheHostIsPrivileged(t *testing.T) {
	daemon := example()
	daemon.OnHost, daemon.Signal = true, "SIGKILL"
	args := strings.Join(Engine{Image: "image", Mounts: []string{"/state"}}.run(daemon), " ")
	for _, want := range []string{"--privileged", "--pid host", "--stop-signal SIGKILL"} {
		if !strings.Contains(args, want) {
			t.Errorf("%s lacks %s", args, want)
		}
	}
}

func TestAnAddressInUseIsRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := free(t.Context(), listener.Addr().String()); err == nil ||
		!strings.Contains(err.Error(), "another program may have it") {
		t.Errorf("got %v", err)
	}
}
