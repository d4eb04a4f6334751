//go:build integration

package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/cli"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/internal/testenv"
)

// twoClusters are a bootstrap cluster with a definition, and the management cluster that it made.
type twoClusters struct {
	t              *testing.T
	source, target *testenv.Server
	namespace      string // of the objects that move
	bootstrap      string // file of its kubeconfig
	state          string // folder
}

func newTwoClusters(t *testing.T) *twoClusters {
	t.Helper()
	c := &twoClusters{t: t, namespace: fixture.Namespace}
	var starting errgroup.Group
	for _, server := range []**testenv.Server{&c.source, &c.target} {
		starting.Go(func() (err error) {
			if *server, err = testenv.Start(t.Context()); err != nil {
				return err
			}
			return fixture.Create(t.Context(), (*server).Client, "capi-system", fixture.Providers())
		})
	}
	t.Cleanup(func() {
		for _, server := range []*testenv.Server{c.source, c.target} {
			if server != nil {
				_ = server.Stop()
			}
		}
	})
	if err := starting.Wait(); err != nil {
		t.Fatal(err)
	}
	c.fill()
	folder := t.TempDir()
	c.bootstrap, c.state = filepath.Join(folder, "bootstrap"), filepath.Join(folder, "cluster-init", fixture.Cluster)
	c.write(c.bootstrap, c.source.Kubeconfig(), 0o600)
	// an engine without containers
	c.write(filepath.Join(folder, "docker"),
		[]byte("#!/bin/sh\n[ \"$1\" != info ] || echo '{\"ServerVersion\":\"28\"}'\n"), 0o700)
	t.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_STATE_HOME", folder)
	t.Setenv("DOCKER_HOST", "")
	return c
}

// fill gives the source the objects that move.
func (c *twoClusters) fill() {
	c.t.Helper()
	objects := append(fixture.ManagementCluster(), fixture.Bystanders()...)
	if err := fixture.Create(c.t.Context(), c.source.Client, c.namespace, objects,
		fixture.Set("Cluster", fixture.Cluster, fixture.Cluster, "metadata", "labels", "cluster-init.io/cluster"),
		fixture.Set("Secret", "mgmt-kubeconfig", string(c.target.Kubeconfig()), "stringData", "value")); err != nil {
		c.t.Fatal(err)
	}
}

func (c *twoClusters) write(path string, content []byte, mode os.FileMode) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		c.t.Fatal(err)
	}
}

// plan runs the command and holds its exit code against what is wanted.
func (c *twoClusters) plan(when string, want int, args ...string) (stdout, stderr string) {
	c.t.Helper()
	var out, err bytes.Buffer
	args = append([]string{"pivot", "plan", "kubeadm-capd", "--set", "cluster.name=" + fixture.Cluster, "--set",
		"cluster.namespace=" + fixture.Namespace,
		"--bootstrap-kubeconfig", c.bootstrap}, args...)
	if got := cli.Main(c.t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err}); got != want {
		c.t.Errorf("%s: exit code %d, want %d\n%s%s", when, got, want, out.String(), err.String())
	}
	return out.String(), err.String()
}

// The command finds both clusters by itself, and what it says changes with what they hold.
func TestPivotPlanOfTwoClusters(t *testing.T) {
	c := newTwoClusters(t)
	if text, _ := c.plan("before the pivot", 0); !strings.Contains(text, "22 objects would move, in 6 groups") ||
		!strings.HasSuffix(text, "cluster-init up writes it.\n") {
		t.Errorf("before the pivot:\n%s", text)
	}
	credentials := &unstructured.Unstructured{}
	credentials.SetAPIVersion("v1")
	credentials.SetKind("Secret")
	credentials.SetNamespace(fixture.Namespace)
	credentials.SetName("cloud-credentials")
	label := func(labels map[string]string) {
		t.Helper()
		credentials.SetLabels(labels)
		credentials.Object["stringData"] = map[string]any{"clouds.yaml": "the-credentials"}
		credentials.SetResourceVersion("")
		if err := c.source.Client.Update(t.Context(), credentials); err != nil {
			t.Fatal(err)
		}
	}
	label(nil)
	text, said := c.plan("with credentials that stay", 60, "-o", "json")
	var document struct {
		SchemaVersion int
		MayStart      bool
		Stays         []struct{ Kind, Name, Rule string }
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil || document.SchemaVersion != 1 || document.MayStart ||
		!strings.Contains(text, `"name": "cloud-credentials"`) {
		t.Errorf("with credentials that stay: %v\n%s", err, text)
	}
	if !strings.Contains(said, "must not start; reasons: 1") || strings.Contains(text+said, "the-credentials") {
		t.Errorf("with credentials that stay it said: %s", said)
	}
	label(map[string]string{"clusterctl.cluster.x-k8s.io/move": ""})

	if err := capi.Move(t.Context(), capi.MoveInput{From: c.source.Config, To: c.target.Config,
		Namespace: fixture.Namespace}); err != nil {
		t.Fatal(err)
	}
	c.write(filepath.Join(c.state, "kubeconfig"), c.target.Kubeconfig(), 0o600)
	if text, _ = c.plan("after the pivot", 0); !strings.Contains(text, "the pivot is finished") {
		t.Errorf("after the pivot:\n%s", text)
	}
	if err := c.target.Stop(); err != nil {
		t.Fatal(err)
	}
	if text, _ = c.plan("the management cluster does not answer", 32); text != "" {
		t.Errorf("the management cluster does not answer:\n%s", text)
	}
}
