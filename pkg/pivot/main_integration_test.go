//go:build integration

package pivot_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/internal/testenv"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// servers are the two API servers that all integration tests of this package share, one namespace for each test.
var servers struct{ source, target *testenv.Server }

func TestMain(m *testing.M) {
	if text := os.Getenv(jobVariable); text != "" {
		os.Exit(runJob(text))
	}
	code, err := runWithServers(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runWithServers(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	sides := []**testenv.Server{&servers.source, &servers.target}
	failures := make([]error, len(sides))
	var starting sync.WaitGroup
	for i, server := range sides {
		starting.Go(func() { *server, failures[i] = startWithProviders(ctx) })
	}
	starting.Wait()
	for _, server := range sides {
		if *server != nil {
			defer func() { _ = (*server).Stop() }()
		}
	}
	if err := errors.Join(failures...); err != nil {
		return 1, err
	}
	if err := installFlux(servers.target.Config); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func startWithProviders(ctx context.Context) (*testenv.Server, error) {
	server, err := testenv.Start(ctx)
	if err != nil {
		return nil, err
	}
	return server, fixture.Create(ctx, server.Client, "capi-system", fixture.Providers())
}

// stage is one test's share of the two servers.
type stage struct {
	pivot.Input
	t     *testing.T
	flux  *fakeFlux
	moves int // how often a move was started
	lines []string
}

// newStage fills the source with the fixture, in a namespace of the test's own.
func newStage(t *testing.T, edits ...fixture.Edit) *stage {
	t.Helper()
	return newStageOf(t, fixture.ManagementCluster(), edits...)
}

// newStageOf fills the source with other objects.
func newStageOf(t *testing.T, objects []*unstructured.Unstructured, edits ...fixture.Edit) *stage {
	t.Helper()
	s := &stage{t: t, flux: &fakeFlux{}}
	name := strings.ToLower(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, t.Name()))
	// two tests may differ only in the part that is dropped, and a name must not end with a hyphen
	if len(name) > 63 {
		sum := fnv.New32a()
		_, _ = sum.Write([]byte(name))
		name = fmt.Sprintf("%s-%08x", name[:54], sum.Sum32())
	}
	s.Input = pivot.Input{
		Source: clusters.Side{Client: servers.source.Client, Config: servers.source.Config,
			Kubeconfig: "/tmp/source.kubeconfig"},
		Target: clusters.Side{Client: servers.target.Client, Config: servers.target.Config,
			Kubeconfig: "/tmp/target.kubeconfig"},
		Scope:     clusters.Scope{Namespace: name, Cluster: fixture.Cluster},
		BackupDir: t.TempDir(),
		Flux:      s.flux,
		Now:       func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Log:       func(line string) { s.lines = append(s.lines, line) },
		Move: func(ctx context.Context, in capi.MoveInput) error {
			s.moves++
			return capi.Move(ctx, in)
		},
	}
	objects = append(objects, fixture.Bystanders()...)
	if err := fixture.Create(t.Context(), s.Source.Client, s.Scope.Namespace, objects, edits...); err != nil {
		t.Fatal(err)
	}
	return s
}

// keys returns what the graph of one side would move.
func (s *stage) keys(c client.Client) []string {
	s.t.Helper()
	graph, err := capi.Discover(s.t.Context(), c, s.Scope.Namespace)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, o := range graph.Moves() {
		names = append(names, o.String())
	}
	return names
}

// exists reports whether one side has the object.
func (s *stage) exists(c client.Client, u *unstructured.Unstructured) bool {
	s.t.Helper()
	got := &unstructured.Unstructured{}
	got.SetGroupVersionKind(u.GroupVersionKind())
	err := c.Get(s.t.Context(), client.ObjectKey{Namespace: s.Scope.Namespace, Name: u.GetName()}, got)
	if client.IgnoreNotFound(err) != nil {
		s.t.Fatal(err)
	}
	return err == nil
}

// setPaused pauses or resumes the Cluster of one side, as the hints describe it.
func (s *stage) setPaused(c client.Client, patch string) {
	s.t.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	u.SetKind("Cluster")
	u.SetNamespace(s.Scope.Namespace)
	u.SetName(s.Scope.Cluster)
	if err := c.Patch(s.t.Context(), u, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) state() pivot.State {
	s.t.Helper()
	state, err := pivot.ReadState(s.t.Context(), s.Source, s.Target, s.Scope)
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}
