//go:build integration

package clusters

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
)

// TestWorkloadAccess reads kubeconfigs as Cluster API keeps them, in a real API server.
func TestWorkloadAccess(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.DefineCluster(ctx, t)
	shared.Namespaces(ctx, t, "team-a", "team-b")
	for _, namespace := range []string{"team-a", "team-b"} {
		shared.Create(ctx, t, fluxserver.NewCluster(namespace, "twice"))
	}
	shared.Create(ctx, t, fluxserver.NewCluster("team-a", "shop"))
	kept := fluxserver.KubeconfigOf(t, "shop", "https://192.0.2.7")
	shared.Create(ctx, t, fluxserver.KubeconfigSecret("team-a", "shop", kept))

	for _, name := range []string{"shop", "team-a/shop"} {
		if got, err := WorkloadAccess(ctx, shared.Client, name); err != nil || string(got) != string(kept) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]fault.Code{"nope": fault.Usage, "team-b/shop": fault.Usage, "twice": fault.Usage,
		"team-b/twice": fault.ClusterUnreachable} {
		_, err := WorkloadAccess(ctx, shared.Client, name)
		if fault.CodeOf(err) != want || want == fault.Usage && !strings.Contains(fault.HintOf(err), "team-a/shop") {
			t.Errorf("%s: %v (%s, %s), want %s", name, err, fault.CodeOf(err), fault.HintOf(err), want)
		}
	}
}
