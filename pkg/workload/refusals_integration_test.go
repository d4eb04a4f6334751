//go:build integration

package workload

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// refusal is one thing that is wrong with a management cluster that makes clusters, or with what it is to make.
type refusal struct {
	environment string
	sets        []string
	machines    string        // the network of the machines
	patch       client.Object // is changed by
	with, back  string        // these patches, of its status if it has one
	there       client.Object // exists already
	lacks       bool          // the source lacks the folder of the definition
	code        fault.Code
	says        string
}

// What is refused leaves both API servers as they were: that of the management cluster, and that of the workload
// cluster that exists already and was to be changed.
func refusalsChangeNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	w := newFleet(ctx, t)
	if err := w.cluster(ctx, t, refusal{}).Check(ctx, &pipeline.Notes{}); err != nil {
		t.Fatalf("nothing is wrong, and it is refused: %v", err)
	}
	named := func(name string) []string { return []string{"cluster.name=" + name} }
	const gate = `{"spec":{"postBuild":{"substitute":{"EXP_KUBEADM_BOOTSTRAP_FORMAT_IGNITION":%s}}}}`
	const available = `{"status":{"conditions":[{"type":"Available","status":"%s","reason":"A",` +
		`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	for name, row := range map[string]refusal{
		"the name of another's HelmRelease": {sets: named("depot"), code: fault.ClusterForeign,
			says: "the HelmRelease team-r/depot exists", there: depotRelease()},
		"the name of another's Cluster": {sets: named("till"), code: fault.ClusterForeign,
			says: "the Cluster team-r/till exists", there: fluxserver.NewCluster("team-r", "till")},
		"the name of another's ConfigMap": {sets: named("till"), code: fault.ClusterForeign,
			says: "exists, but does not belong to workload cluster team-r/till", there: w.phaseOf(ctx, t, "till")},
		"the name of another's values": {sets: named("till"), code: fault.ClusterForeign,
			says: "exists, but does not belong to workload cluster team-r/till", there: valuesOf("till")},
		"the name of the management cluster": {sets: []string{"cluster.name=mgmt", "cluster.namespace=fleet"},
			code: fault.ClusterForeign, says: "the Cluster fleet/mgmt exists"},
		"a provider is missing": {environment: "rke2-capd", code: fault.ComponentUnknown,
			says: "does not have the component cabpr"},
		"Ignition without its gate": {sets: []string{"cluster.bootstrap_format=ignition"}, code: fault.ValuesInvalid,
			says: "but the component cabpk", patch: w.kustomizations["cabpk"], with: fmt.Sprintf(gate, `"false"`),
			back: fmt.Sprintf(gate, "null")},
		"networks that overlap": {machines: "10.244.128.0/24", code: fault.ValuesInvalid,
			says: "10.244.128.0/24 overlaps with 10.244.0.0/16"},
		"a version of Kubernetes outside the range": {sets: []string{"cluster.kubernetes_version=v1.20.0"},
			code: fault.ValuesInvalid, says: "cluster.kubernetes_version is v1.20.0"},
		"the management cluster is paused": {code: fault.ClusterUnreachable, says: "its Cluster is paused",
			patch: w.self, with: `{"spec":{"paused":true}}`, back: `{"spec":{"paused":null}}`},
		"the management cluster is not Available": {code: fault.ClusterUnreachable,
			says: "its Cluster is not Available", patch: w.self, with: fmt.Sprintf(available, "False"),
			back: fmt.Sprintf(available, "True")},
		"a controller has no replica": {code: fault.ComponentStuck,
			says:  "does not act: Deployment capd has 0 of 1 replicas available (Deployment/capd-r/capd)",
			patch: w.deployments["capd"], with: deploymentStatus(0), back: deploymentStatus(1)},
		"Flux has no replica": {code: fault.ComponentStuck, says: "Deployment/flux-system/helm-controller",
			patch: w.deployments["helm-controller"], with: deploymentStatus(0), back: deploymentStatus(1)},
		"the source lacks a component's folder": {lacks: true, code: fault.ComponentUnknown,
			says: "kustomize-components/cluster/kubeadm-capd"},
	} {
		t.Run(name, func(t *testing.T) {
			if row.there != nil {
				shared.Create(ctx, t, row.there)
				defer shared.Remove(ctx, t, row.there)
			}
			if row.patch != nil {
				patch(ctx, t, row.patch, row.with)
				defer patch(ctx, t, row.patch, row.back)
			}
			c := w.cluster(ctx, t, row)
			before, inside := shared.Versions(ctx, t), w.workload.Versions(ctx, t)
			err := c.Apply(ctx, &pipeline.Notes{})
			if fault.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.says) || fault.HintOf(err) == "" {
				t.Errorf("%v with code %s and hint %q, want %q with %s", err, fault.CodeOf(err), fault.HintOf(err),
					row.says, row.code)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("it is refused for more than one reason: %v", err)
			}
			for _, change := range append(before.Changes(shared.Versions(ctx, t)),
				inside.Changes(w.workload.Versions(ctx, t))...) {
				t.Error(change)
			}
		})
	}
	if err := w.cluster(ctx, t, refusal{}).Check(ctx, &pipeline.Notes{}); err != nil {
		t.Errorf("nothing is wrong any more, and it is refused: %v", err)
	}
}
