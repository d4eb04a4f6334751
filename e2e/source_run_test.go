//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// output is all that one run of the CLI said.
type output struct {
	exitCode int
	killed   bool
	all      string // standard output and standard error
}

// up runs `up` with all that it can say, and kills it as soon as an event arrives for which stop is true. Nil means
// never. No secret may be in what it says.
func (l lab) up(t *testing.T, secret string, stop func(event.Event) bool, args ...string) output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	args = append([]string{"up", environmentName, "--bundle", l.bundle, "--verbose", "--output", "json"}, args...)
	t.Logf("cluster-init %v", args)
	c := l.command(ctx, args...)
	var said, stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	result := output{}
	lines := bufio.NewReader(io.TeeReader(out, &said))
	for {
		line, readErr := lines.ReadBytes('\n')
		var e event.Event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil {
			logEvent(t, e)
			if stop != nil && !result.killed && stop(e) {
				result.killed = true
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if readErr != nil {
			break
		}
	}
	err = c.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	result.exitCode, result.all = c.ProcessState.ExitCode(), said.String()+stderr.String()
	if holds([]byte(result.all), secret) {
		t.Errorf("the output holds the secret:\n%s", lineWith(result.all, secret))
	}
	return result
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// refusedEarly runs `up`, which must end with 41 and that message, and with nothing made.
func (l lab) refusedEarly(t *testing.T, secret, message string, args ...string) {
	t.Helper()
	l.refusedAs(t, 41, secret, message, args...)
}

// refusedAs is refusedEarly with another exit code.
func (l lab) refusedAs(t *testing.T, code int, secret, message string, args ...string) {
	t.Helper()
	o := l.up(t, secret, nil, args...)
	if o.exitCode != code || !strings.Contains(o.all, message) || !strings.Contains(o.all, `"hint"`) {
		t.Errorf("exit code %d, want %d, a hint and %q:\n%s", o.exitCode, code, message, o.all)
	}
	l.nothingLeft(t)
}

// nothingLeft proves that this environment has nothing in the Docker engine.
func (l lab) nothingLeft(t *testing.T) {
	t.Helper()
	l.nothingOurs(t)
	if left := containers(t, "io.x-k8s.kind.cluster="+l.name+"-bootstrap"); len(left) > 0 {
		t.Errorf("bootstrap cluster: %v", left)
	}
}

// nothingOurs is nothingLeft but for a bootstrap cluster, whose name a foreign one may have.
func (l lab) nothingOurs(t *testing.T) {
	t.Helper()
	gone := map[string][]string{
		"machines":   {"ps", "-aq", "--filter", "label=io.x-k8s.kind.cluster=" + l.name},
		"containers": {"ps", "-aq", "--filter", "label=" + owned.ClusterLabel + "=" + l.name},
		"volumes":    {"volume", "ls", "-q", "--filter", "label=" + owned.ClusterLabel + "=" + l.name},
	}
	// All environments share one network: it stays while another one, of a user or of a test run that was interrupted,
	// is there.
	if docker(t, "ps", "-aq", "--filter", "label="+owned.ClusterLabel) == "" &&
		docker(t, "ps", "-aq", "--filter", "label=io.x-k8s.kind.cluster") == "" {
		gone["networks"] = []string{"network", "ls", "-q", "--filter", "label=" + owned.CreatedLabel + "=true"}
	}
	for what, args := range gone {
		if out := docker(t, args...); out != "" {
			t.Errorf("%s: %s", what, out)
		}
	}
}

// get returns an object of Flux's namespace, or nil while it is not there.
func (c cluster) get(ctx context.Context, apiVersion, kind, name string) *unstructured.Unstructured {
	o := object(apiVersion, kind, "flux-system", name, nil)
	if c.Get(ctx, client.ObjectKeyFromObject(o), o) != nil {
		return nil
	}
	return o
}

// sourceAt fails the test unless the source is ready and its artifact's revision contains revision.
func (c cluster) sourceAt(t *testing.T, kind, name, revision string) {
	t.Helper()
	o := c.get(t.Context(), "source.toolkit.fluxcd.io/v1", kind, name)
	if o == nil {
		t.Fatalf("no %s %s", kind, name)
	}
	if why := unready(o); why != "" {
		t.Error(why)
	}
	if at, _, _ := unstructured.NestedString(o.Object, "status", "artifact", "revision"); !strings.Contains(
		at, revision) {
		t.Errorf("%s %s is at %q, want %s", kind, name, at, revision)
	}
}

// appliedAt fails the test unless the components have applied the revision; without names all of the source's have to.
func (c cluster) appliedAt(t *testing.T, revision string, names ...string) {
	t.Helper()
	seen := 0
	for _, k := range c.list(t, "kustomize.toolkit.fluxcd.io", "v1", "Kustomization") {
		if len(names) > 0 && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+k.GetName()+" ") {
			continue
		}
		seen++
		if at, _, _ := unstructured.NestedString(k.Object, "status", "lastAppliedRevision"); !strings.Contains(
			at, revision) {
			t.Errorf("Kustomization %s has applied %q, want %s", k.GetName(), at, revision)
		}
	}
	if seen == 0 || seen < len(names) {
		t.Errorf("%d Kustomizations, want %v", seen, names)
	}
}
