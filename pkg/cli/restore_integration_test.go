//go:build integration

package cli_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/cli"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// restore runs the command with its answer as JSON.
func (c *twoClusters) restore(when string, want int, args ...string) string {
	c.t.Helper()
	var out, err bytes.Buffer
	args = append([]string{"restore", "--kubeconfig", filepath.Join(c.state, "kubeconfig"), "-o", "json"}, args...)
	if got := cli.Main(c.t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}); got != want {
		c.t.Fatalf("%s: exit code %d, want %d\n%s%s", when, got, want, out.String(), err.String())
	}
	return out.String()
}

// keep backs up what the source has.
func (c *twoClusters) keep() string {
	c.t.Helper()
	kept, err := pivot.Keeper{Dir: c.t.TempDir(), Now: time.Now}.Keep(c.t.Context(),
		clusters.Side{Client: c.source.Client},
		clusters.Scope{Namespace: fixture.Namespace, Cluster: fixture.Cluster}, pivot.Extent{})
	if err != nil {
		c.t.Fatal(err)
	}
	return kept.Path
}

// A backup goes into another management cluster through the whole command: refused, then done, then done already.
func TestRestoreOfABackup(t *testing.T) {
	c := newTwoClusters(t)
	c.write(filepath.Join(c.state, "kubeconfig"), c.target.Kubeconfig(), 0o600)
	if said := c.restore("into the cluster that it is of", 64, c.keep(), "--force",
		fixture.Cluster); !strings.Contains(said, "the target itself, the management cluster mgmt") {
		t.Errorf("into the cluster that it is of: %s", said)
	}
	lost := regexp.MustCompile(`server: \S+`).ReplaceAllString(string(c.source.Kubeconfig()),
		"server: https://127.0.0.1:1")
	secret := fixture.ManagementCluster()[0]
	secret.SetAPIVersion("v1")
	secret.SetKind("Secret")
	secret.SetNamespace(fixture.Namespace)
	secret.SetName("mgmt-kubeconfig")
	patch, err := json.Marshal(map[string]any{"stringData": map[string]any{"value": lost}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.source.Client.Patch(t.Context(), secret, client.RawPatch("application/merge-patch+json",
		patch)); err != nil {
		t.Fatal(err)
	}
	path := c.keep()
	if said := c.restore("the old cluster is silent", 64, path); !strings.Contains(said, "--force mgmt") ||
		c.holds(c.target) > 0 {
		t.Errorf("the old cluster is silent: %s", said)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.controllers() }()
	said := c.restore("restored", 0, path, "--force", fixture.Cluster)
	c.answered("restored", said, false)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	said = c.restore("restored already", 0, path)
	c.answered("restored already", said, true)
	if c.holds(c.target) != len(fixture.ManagementCluster()) {
		t.Errorf("the target holds %d objects", c.holds(c.target))
	}
}

// answered holds the last line of JSON against what is wanted.
func (c *twoClusters) answered(when, said string, already bool) {
	c.t.Helper()
	lines := strings.Split(strings.TrimSpace(said), "\n")
	var line struct {
		Type      string
		Already   bool
		Available bool
		Objects   int
		Clusters  []string
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil || line.Type != "restore" ||
		line.Already != already || !line.Available || len(line.Clusters) != 1 {
		c.t.Errorf("%s: %+v, %v\n%s", when, line, err, said)
	}
}

// controllers gives the target's objects, once they are there, the status that controllers would.
func (c *twoClusters) controllers() error {
	for _, u := range fixture.ManagementCluster() {
		status, has := u.Object["status"]
		u.SetNamespace(fixture.Namespace)
		for has {
			err := c.target.Client.Get(c.t.Context(), client.ObjectKeyFromObject(u), u)
			if err == nil {
				u.Object["status"] = status
				err = c.target.Client.Status().Update(c.t.Context(), u)
			}
			if has = err != nil; !has {
				break
			}
			select {
			case <-c.t.Context().Done():
				return c.t.Context().Err()
			case <-time.After(100 * time.Millisecond): // it is not there yet, or was just changed
			}
		}
	}
	return nil
}
