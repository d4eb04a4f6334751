package diagnose

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// The diagnosis of a workload cluster reports its own objects and the controllers that it needs, and no other cluster.
func TestWorkload(t *testing.T) {
	const release = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME-cluster, namespace: team-a, labels: {workload: NAME}}
status: {conditions: [{type: Ready, status: "False", reason: BuildFailed, message: kustomize build failed}]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: NAME, namespace: team-a, labels: {workload: NAME}}
spec: {paused: true}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: NAME-1, namespace: team-a, labels: {cluster.x-k8s.io/cluster-name: NAME, workload: NAME}}
`
	const management = `
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: capi, namespace: flux-system}
status: {conditions: [{type: Ready, status: "False", reason: BuildFailed, message: kustomize build failed}]}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: mgmt, namespace: management}
spec: {paused: true}
`
	named := func(name string) string { return strings.ReplaceAll(release, "NAME", name) + "---" }
	all := named("shop") + named("bank") + strings.TrimPrefix(management, "\n---")
	w := Workload{Scope: clusters.Scope{Namespace: "team-a", Cluster: "shop"},
		Owns: func(o client.Object) bool { return o.GetLabels()["workload"] == "shop" }}
	report := func(objects string) string {
		seen := w.narrow(readiness.Observation{Cluster: "management", Objects: decode(t, objects)})
		r, err := Case{Scope: w.Scope, workload: true, Clusters: []Seen{{Observation: seen}}}.Report()
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, f := range append(r.Findings, r.Waiting...) {
			found = append(found, f.Object)
		}
		return strings.Join(found, " ")
	}
	got := report(all)
	for _, want := range []string{"Kustomization/team-a/shop-cluster", "Cluster/team-a/shop", "Machine/team-a/shop-1",
		"Kustomization/flux-system/capi"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not reported: %s", want, got)
		}
	}
	if strings.Contains(got, "bank") || strings.Contains(got, "mgmt") {
		t.Errorf("another cluster is reported: %s", got)
	}
	deleted := strings.Replace(all, "{name: shop, namespace: team-a,",
		`{name: shop, namespace: team-a, deletionTimestamp: "2026-11-29T10:00:00Z",`, 1)
	if got := report(deleted); strings.Contains(got, "shop-cluster") || !strings.Contains(got, "Machine/team-a/shop-1") {
		t.Errorf("of a cluster that is being deleted: %s", got)
	}
}
