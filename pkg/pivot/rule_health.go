package pivot

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// mustAct are the findings of a cluster that would accept the definition and not act on it, although its Deployments
// report that they are ready.
var mustAct = []string{"lease-not-renewed", "lease-held-by-dead-process", "control-plane-part-missing",
	"control-plane-part-down", "kubelet-silent", "dns-without-endpoints",
	"etcd-full", "etcd-corrupt", "api-server-check-failed", "conversion-webhook-silent", "definition-unreadable",
	"permission-missing"}

// checkHealth finds what would keep the target from acting on its objects. The Ready condition is not enough: it is
// what a controller wrote last.
func checkHealth(ctx context.Context, v *view) ([]*Refusal, error) {
	if v.targetSide.Config == nil { // a target in memory: there is no server to check
		return nil, nil
	}
	c, err := connected(v.targetSide)
	if err != nil {
		return nil, fmt.Errorf("target: %w", err)
	}
	return refusalsOf(readiness.Judge(readiness.Observe(ctx, c))), nil
}

// refusalsOf returns the findings that prevent the start of a move. All may pass: controllers that restart with their
// machines wait for their old Leases to expire.
func refusalsOf(findings []readiness.Finding) []*Refusal {
	var refusals []*Refusal
	for _, f := range readiness.Blocks(findings) {
		if slices.Contains(mustAct, f.ID) && !f.Transient {
			refusals = append(refusals, &Refusal{Rule: RuleHealth, Object: f.Object.String(),
				Reason: "the target cannot act: " + f.Cause, Remedy: f.Remedy, Passes: true})
		}
	}
	return refusals
}

// connected returns a connection to a side that also reads typed objects.
func connected(side clusters.Side) (*kube.Cluster, error) {
	scheme, err := capi.NewScheme()
	if err != nil {
		return nil, err
	}
	typed, err := client.New(side.Config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	dyn, err := dynamic.NewForConfig(side.Config)
	if err != nil {
		return nil, err
	}
	return &kube.Cluster{Client: typed, Name: "target", Config: side.Config, Dynamic: dyn}, nil
}
