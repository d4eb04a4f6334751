package pivot

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// actingTimeout allows controllers to restart with their machines: each waits for its old Lease to expire.
const actingTimeout = 3 * time.Minute

// AwaitActing waits until nothing keeps a target from acting on its objects, for 3 minutes at most, or until a check
// fails. It returns no error: the rules of the move check again, and report what they find.
func AwaitActing(ctx context.Context, target clusters.Side, waiting func(what string)) {
	awaitNoRefusal(ctx, func(ctx context.Context) ([]*Refusal, error) {
		return checkHealth(ctx, &view{targetSide: target})
	}, waiting)
}

// awaitNoRefusal checks every 5 seconds, and reports the first refusal when it changes. It ends when the check fails.
func awaitNoRefusal(ctx context.Context, check func(context.Context) ([]*Refusal, error), waiting func(what string)) {
	ctx, cancel := context.WithTimeout(ctx, actingTimeout)
	defer cancel()
	const pause = 5 * time.Second
	reported := ""
	for {
		refusals, err := check(ctx)
		if err != nil || len(refusals) == 0 {
			return
		}
		if what := refusals[0].Error(); what != reported {
			waiting(what)
			reported = what
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// refusalsOf returns the findings that prevent the start of a move.
func refusalsOf(findings []readiness.Finding) []*Refusal {
	var refusals []*Refusal
	for _, f := range readiness.Blocks(findings) {
		if slices.Contains(mustAct, f.ID) && !f.Transient {
			refusals = append(refusals, &Refusal{Rule: RuleHealth, Object: f.Object.String(),
				Reason: "the target cannot act: " + f.Cause, Remedy: f.Remedy})
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
