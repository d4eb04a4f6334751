//go:build integration

package down

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
)

// A bootstrap cluster that holds only other Clusters: the run deletes them, so the plan is not empty.
func planOfOtherClusters(ctx context.Context, t *testing.T) {
	shop := fluxserver.NewCluster("tenants", "shop")
	shared.Create(ctx, t, shop)
	defer shared.Remove(ctx, t, shop)
	_, options, parts := newJudged(t, &inventory{answers: []answer{{}}}, time.Now)
	options.WithWorkloadClusters = true
	options.BootstrapKubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(options.BootstrapKubeconfig, shared.Client.Kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := New(options, parts).Plan(ctx)
	if err != nil || p.Nothing || !slices.Contains(p.WorkloadClusters, "tenants/shop") {
		t.Errorf("%+v, %v", p, err)
	}
}
