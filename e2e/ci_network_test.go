//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

// The network of a CI job with an engine: a namespace of its own, joined to this machine, which plays the machine of
// the engine, by one cable. The addresses are of a range that nothing in between uses.
const (
	jobNamespace = "cluster-init-job"
	jobLink      = "ci-job0" // its end on this machine
	engineHost   = "10.213.77.1"
	jobAddress   = "10.213.77.2"
)

// ciJob is a lab as a CI job has it: another network namespace, from which the engine's machine is all that can be
// reached: the engine by TCP, and the ports that it publishes; no container, and no socket of the engine.
func ciJob(t *testing.T, name string) (l lab, folder string) {
	t.Helper()
	l = newLabFor(t, name)
	if os.Geteuid() != 0 {
		missing(t, "a network namespace needs root")
	}
	if err := host.Install(t.Context(), "ip", "iproute2"); err != nil {
		t.Fatal(err)
	}
	socket, isSocket := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if os.Getenv("DOCKER_HOST") == "" {
		socket = "/var/run/docker.sock"
	} else if !isSocket {
		missing(t, "the engine is not on this machine")
	}
	jobNetwork(t)
	address := forward(t, socket)
	for _, path := range []*string{&l.binary, &l.bundle} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			t.Fatal(err)
		}
		*path = absolute
	}
	folder = t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
# What runs in the job sees neither the networks nor the socket of the engine.
export DOCKER_HOST=tcp://%s CI=true GITLAB_CI=true XDG_STATE_HOME=%s
cd %s
exec ip netns exec %s unshare --mount --propagation private \
  sh -c 'mount --bind /dev/null %s && exec "$0" "$@"' %s "$@"
`, address, l.state, folder, jobNamespace, socket, l.binary)
	l.binary = filepath.Join(t.TempDir(), "job")
	if err := os.WriteFile(l.binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return l, folder
}

// jobNetwork makes the namespace and takes it away after the test.
func jobNetwork(t *testing.T) {
	t.Helper()
	// before ports are translated: those that are published pass
	onlyTheEngine := []string{"-i", jobLink, "!", "-d", engineHost, "-j", "DROP"}
	remove := func() error {
		var errs []error
		for _, c := range [][]string{
			append([]string{"iptables", "-w", "-t", "raw", "-D", "PREROUTING"}, onlyTheEngine...),
			{"ip", "link", "del", jobLink}, {"ip", "netns", "del", jobNamespace},
		} {
			if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
				errs = append(errs, fmt.Errorf("%v: %w: %s", c, err, out))
			}
		}
		return errors.Join(errs...)
	}
	_ = remove() // what a killed test left
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range [][]string{
		{"ip", "netns", "add", jobNamespace},
		{"ip", "link", "add", jobLink, "type", "veth", "peer", "name", "ci-job1", "netns", jobNamespace},
		{"ip", "addr", "add", engineHost + "/30", "dev", jobLink},
		{"ip", "link", "set", jobLink, "up"},
		{"ip", "-n", jobNamespace, "addr", "add", jobAddress + "/30", "dev", "ci-job1"},
		{"ip", "-n", jobNamespace, "link", "set", "lo", "up"},
		{"ip", "-n", jobNamespace, "link", "set", "ci-job1", "up"},
		{"ip", "-n", jobNamespace, "route", "add", "default", "via", engineHost},
		append([]string{"iptables", "-w", "-t", "raw", "-I", "PREROUTING"}, onlyTheEngine...),
	} {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", c, err, out)
		}
	}
}

// forward serves the engine's socket by TCP on the cable, as dind does, until the test ends.
func forward(t *testing.T, socket string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(engineHost, "0"))
	if err != nil {
		t.Fatal(err)
	}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // closed
			}
			connections.Go(func() {
				defer client.Close()
				if from, _, _ := net.SplitHostPort(client.RemoteAddr().String()); from != jobAddress {
					return // whoever reaches the engine is root: no other user on this machine may
				}
				engine, err := net.Dial("unix", socket)
				if err != nil {
					return
				}
				defer engine.Close()
				join(client.(*net.TCPConn), engine.(*net.UnixConn))
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		connections.Wait()
	})
	return listener.Addr().String()
}

// join copies both ways. It passes the end of one direction on, and continues with the other, as docker's attached
// streams need it.
func join(client *net.TCPConn, engine *net.UnixConn) {
	var ways sync.WaitGroup
	ways.Go(func() {
		_, _ = io.Copy(engine, client)
		_ = engine.CloseWrite()
	})
	ways.Go(func() {
		_, _ = io.Copy(client, engine)
		_ = client.CloseWrite()
	})
	ways.Wait()
}
