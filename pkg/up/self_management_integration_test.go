//go:build integration

package up

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// warn uses a management cluster that lost a machine since the pivot, and in which a tenant is paused. Nothing is
// resumed.
func warn(ctx context.Context, t *testing.T) {
	own, tenant := fluxserver.NewCluster("warned", "mgmt"), fluxserver.NewCluster("warned", "tenant")
	own.SetAnnotations(map[string]string{owned.MachinesAnnotation: `{"mgmt-a":"docker:////mgmt-a"}`})
	tenant.Object["spec"] = map[string]any{"paused": true}
	shared.Create(ctx, t, own)
	shared.Create(ctx, t, tenant)
	defer shared.Remove(ctx, t, own, tenant)
	s := selfManagement{world: sides{}, releases: releases{scope: clusters.Scope{Namespace: "warned", Cluster: "mgmt"}}}
	var first, second warnings
	for _, each := range []*warnings{&first, &second} {
		if err := s.complete(ctx, shared.Client, each); err != nil {
			t.Fatal(err)
		}
	}
	const resume = "kubectl --kubeconfig '/state/kubeconfig' -n warned patch clusters.cluster.x-k8s.io tenant --type " +
		"merge"
	if len(first.said) != 2 || !strings.Contains(first.said[0], "Cluster warned/tenant") ||
		!strings.Contains(first.said[0], resume) ||
		!strings.Contains(first.said[1], "Machine warned/mgmt-a, which the pivot moved, is not there any more") {
		t.Errorf("it warns: %q", first.said)
	}
	if len(second.said) != 1 || !strings.Contains(second.said[0], resume) {
		t.Errorf("the second time it warns: %q", second.said)
	}
}

// sides is a world that knows the management cluster's kubeconfig.
type sides struct{ seenWorld }

func (sides) Side(c *kube.Cluster) clusters.Side {
	return clusters.Side{Client: c.Client, Kubeconfig: "/state/kubeconfig"}
}

// warnings records warnings.
type warnings struct {
	silence
	said []string
}

func (w *warnings) Warn(format string, args ...any) {
	w.said = append(w.said, fmt.Sprintf(format, args...))
}
