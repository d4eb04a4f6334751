//go:build e2e

package e2e

import (
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/event"
)

const bootstrapNode = environmentName + "-bootstrap-control-plane"

func never(event.Event) bool { return false }

// TestRefused meets things that are not cluster-init's own: it touches none of them, and makes nothing.
func TestRefused(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	before := l.stateFiles(t) // of cleaning up, where that had something to delete
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	silent := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(silent, []byte(
		`{apiVersion: v1, kind: Config, current-context: x, users: [{name: x, user: {token: x}}],
contexts: [{name: x, context: {cluster: x, user: x}}], clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		foreign []string // arguments of docker create
		args    []string
		code    int
		says    string
		hint    string
	}{
		"a kind cluster of our name": {
			foreign: []string{"--label", "io.x-k8s.kind.cluster=" + environmentName + "-bootstrap", "--label",
				"io.x-k8s.kind.role=control-plane", "--name", bootstrapNode},
			code: 30, says: environmentName + "-bootstrap", hint: "kind delete cluster"},
		"a container with our registry's name": {
			foreign: []string{"--name", environmentName + "-registry"},
			code:    30, says: environmentName + "-registry", hint: "docker container rm"},
		"a port that is taken": {
			args: []string{"--api-server-port", port}, code: 24, says: "port " + port, hint: "--api-server-port"},
		"a cluster that does not answer": {
			args: []string{"--bootstrap-kubeconfig", silent, "--timeout", "60s"}, code: 32, says: "https://127.0.0.1:1",
			hint: "kubectl --kubeconfig " + silent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			foreign := ""
			if tc.foreign != nil {
				foreign = foreignContainer(t, tc.foreign)
			}
			e := l.signalAt(t, os.Interrupt, never, append([]string{"up", environmentName, "--bundle", l.bundle},
				tc.args...)...)
			if e.exitCode != tc.code || !strings.Contains(e.failure.Message, tc.says) ||
				!strings.Contains(e.failure.Hint, tc.hint) {
				t.Errorf("exit code %d, want %d: %+v", e.exitCode, tc.code, e.failure)
			}
			if tc.foreign != nil {
				if after := docker(t, "container", "inspect", foreign[:64]); foreign[64:] != after {
					t.Errorf("the foreign container was touched: %s\nbefore: %s", after, foreign[64:])
				}
			}
			l.nothingOurs(t)
			if after := l.stateFiles(t); !slices.Equal(after, before) {
				t.Errorf("the state folder holds %v, before %v", after, before)
			}
		})
	}
}

// foreignContainer makes a container of an empty image, which never runs, and returns its ID and what inspect says.
func foreignContainer(t *testing.T, args []string) string {
	t.Helper()
	const image = "cluster-init-e2e.invalid/foreign:empty"
	load := exec.Command("docker", "import", "-", image)
	load.Stdin = strings.NewReader(strings.Repeat("\x00", 1024)) // the end of a tar archive
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("making an empty image: %v: %s", err, out)
	}
	id := docker(t, append(append([]string{"create"}, args...), image, "/nothing")...)
	t.Cleanup(func() {
		for _, args := range [][]string{{"rm", "-f", id}, {"rmi", image}} {
			if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
				t.Errorf("cleaning up: %v: %s", err, out)
			}
		}
	})
	return id + docker(t, "container", "inspect", id)
}

// stateFiles lists what the state folder holds.
func (l lab) stateFiles(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(l.state, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
