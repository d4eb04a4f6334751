package pivot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

func TestPlanListsWhatBelongsToTheClusterAndNothingElse(t *testing.T) {
	from, to := sides(t, source(), target())
	plan, err := pivot.NewPlan(t.Context(), from, to, scope)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, u := range fixture.ManagementCluster() {
		u.SetNamespace(fixture.Namespace)
		want = append(want, capi.ObjectOf(u).String())
	}
	for _, o := range plan.Objects {
		got = append(got, o.String())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("planned\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// unlabelled takes the label off one CRD; gone leaves one out.
func unlabelled(kind string) func(*apiextensionsv1.CustomResourceDefinition) bool {
	return func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		if kind == "*" || crd.Spec.Names.Kind == kind {
			crd.Labels = nil
		}
		return true
	}
}

func gone(kind string) func(*apiextensionsv1.CustomResourceDefinition) bool {
	return func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Spec.Names.Kind != kind }
}

func with(s side, crds func(*apiextensionsv1.CustomResourceDefinition) bool) side {
	s.crds = crds
	return s
}

// withCredentials is a target that has the Secret unrelated of the source, with edits.
func withCredentials(edits ...fixture.Edit) side {
	s := target(edits...)
	s.objects = slices.DeleteFunc(fixture.Bystanders(), func(u *unstructured.Unstructured) bool {
		return u.GetKind() != "Secret" || u.GetName() != "unrelated"
	})
	return s
}

// identity refers to credentials as OpenStackCluster and OpenStackMachine do: to the Secret unrelated, or to something
// of another type which is called the same.
func identity(kind string) map[string]any {
	reference := map[string]any{"name": "unrelated", "cloudName": "telco"}
	if kind != "" {
		reference["type"] = kind
	}
	return reference
}

// An identity of the whole cluster is on both sides, and is no Secret of that name.
func TestPlanTakesAnIdentityOfTheWholeCluster(t *testing.T) {
	from, to := sides(t, source(fixture.Set("DevCluster", "mgmt", identity("ClusterIdentity"), "spec", "identityRef")),
		target())
	if _, err := pivot.NewPlan(t.Context(), from, to, scope); err != nil {
		t.Error(err)
	}
}

func TestPlanRefuses(t *testing.T) {
	providers := fixture.Providers
	rows := map[string]struct {
		from, to side
		want     []pivot.Refusal // exactly these; Reason is a part of the whole text
	}{
		"no label at the source": {
			from: with(source(), unlabelled("DevMachine")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleLabels, Object: "CRD devmachines.infrastructure.cluster.x-k8s.io",
				Reason: "at the source"}},
		},
		"a CRD is missing on the target": {
			from: source(), to: with(target(), gone("DevCluster")),
			want: []pivot.Refusal{{Rule: pivot.RuleLabels, Object: "CRD devclusters.infrastructure.cluster.x-k8s.io",
				Reason: "does not exist on the target"}},
		},
		"a CRD has no label on the target": {
			from: source(), to: with(target(), unlabelled("Machine")),
			want: []pivot.Refusal{{Rule: pivot.RuleLabels, Object: "CRD machines.cluster.x-k8s.io",
				Reason: "has no label " + capi.MoveLabel + " on the target"}},
		},
		"the target serves another version": {
			from: source(), to: with(target(), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
				if crd.Spec.Names.Kind == "Machine" {
					crd.Spec.Versions[0].Name = "v1beta1"
				}
				return true
			}),
			want: []pivot.Refusal{{Rule: pivot.RuleLabels, Object: "CRD machines.cluster.x-k8s.io",
				Reason: "does not serve version v1beta2"}},
		},
		"the source does not serve what it stores": {
			from: with(source(), func(crd *apiextensionsv1.CustomResourceDefinition) bool {
				crd.Spec.Versions[0].Served = crd.Spec.Names.Kind != "Machine"
				return true
			}), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleLabels, Object: "CRD machines.cluster.x-k8s.io",
				Reason: "stores version v1beta2 at the source and does not serve it"}},
		},
		"its ClusterClass is in another namespace": {
			from: source(fixture.Set("Cluster", "mgmt",
				map[string]any{"version": "v1.36.4", "classRef": map[string]any{"name": "shared",
					"namespace": "classes"}}, "spec", "topology")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleCluster, Object: "Cluster management/mgmt",
				Reason: "uses a ClusterClass of namespace classes"}},
		},
		"the cluster is paused": {
			from: source(fixture.Set("Cluster", "mgmt", true, "spec", "paused")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RulePaused, Object: "Cluster management/mgmt", Reason: "is paused"}},
		},
		"one object is paused": {
			from: source(fixture.Set("MachineDeployment", "mgmt-md", "", "metadata", "annotations",
				"cluster.x-k8s.io/paused")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RulePaused, Object: "MachineDeployment management/mgmt-md",
				Reason: "cluster.x-k8s.io/paused"}},
		},
		"the infrastructure is not there": {
			from: source(fixture.Unset("Cluster", "mgmt", "status", "initialization", "infrastructureProvisioned")),
			to:   target(),
			want: []pivot.Refusal{{Rule: pivot.RuleCluster, Object: "Cluster management/mgmt",
				Reason: "infrastructure"}},
		},
		"the control plane is not initialized": {
			from: source(fixture.Unset("Cluster", "mgmt", "status", "initialization", "controlPlaneInitialized")),
			to:   target(),
			want: []pivot.Refusal{{Rule: pivot.RuleCluster, Object: "Cluster management/mgmt",
				Reason: "control plane"}},
		},
		"a machine has no node": {
			from: source(fixture.Unset("Machine", "mgmt-md-1-b", "status", "nodeRef")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleMachines, Object: "Machine management/mgmt-md-1-b",
				Reason: "no node"}},
		},
		"a machine is not ready": {
			from: source(fixture.Set("Machine", "mgmt-cp-a", []any{map[string]any{
				"type": "Ready", "status": "False", "reason": "NotReady", "message": "the node is down",
			}}, "status", "conditions")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleMachines, Object: "Machine management/mgmt-cp-a",
				Reason: "the node is down"}},
		},
		"the provider version differs": {
			from: source(), to: target(func(u *unstructured.Unstructured) {
				if u.GetName() == "capi-controller-manager" {
					containers := []any{map[string]any{"name": "manager",
						"image": "registry.k8s.io/cluster-api/cluster-api-controller:v1.13.2@sha256:00"}}
					_ = unstructured.SetNestedSlice(u.Object, containers, "spec", "template", "spec", "containers")
				}
			}),
			want: []pivot.Refusal{{Rule: pivot.RuleProviders, Object: "provider cluster-api",
				Reason: "version v1.14.0 at the source, v1.13.2 on the target"}},
		},
		"a provider is not ready on the target": {
			from: source(), to: target(fixture.Set("Deployment", "capd-controller-manager", int64(0), "status",
				"availableReplicas")),
			want: []pivot.Refusal{{Rule: pivot.RuleProviders, Object: "provider infrastructure-docker",
				Reason: "not ready on the target"}},
		},
		"a provider is missing on the target": {
			from: source(), to: side{providers: providers()[:1]},
			want: []pivot.Refusal{{Rule: pivot.RuleProviders, Object: "provider infrastructure-docker",
				Reason: "not installed on the target"}},
		},
		"an owner of something does not move": {
			from: source(func(u *unstructured.Unstructured) {
				if u.GetKind() == "KubeadmConfigTemplate" {
					refs := u.GetOwnerReferences()
					refs = append(refs, refs[0])
					refs[1].Kind, refs[1].Name, refs[1].UID = "Namespace", "management", "elsewhere"
					u.SetOwnerReferences(refs)
				}
			}), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleObjects, Object: "KubeadmConfigTemplate management/mgmt-md",
				Reason: "left behind"}},
		},
		// CAPRKE2's issue 500: without its owner clusterctl silently leaves it behind.
		"a machine template has no owner": {
			from: source(fixture.Unset("DevMachineTemplate", "mgmt-cp", "metadata", "ownerReferences")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleObjects, Object: "DevMachineTemplate management/mgmt-cp",
				Reason: "KubeadmControlPlane management/mgmt-cp needs it"}},
		},
		"a machine template of two has no owner": {
			from: source(fixture.Unset("DevMachineTemplate", "mgmt-md", "metadata", "ownerReferences")), to: target(),
			want: []pivot.Refusal{
				{Rule: pivot.RuleObjects, Object: "DevMachineTemplate management/mgmt-md",
					Reason: "MachineDeployment management/mgmt-md needs it"},
				{Rule: pivot.RuleObjects, Object: "DevMachineTemplate management/mgmt-md",
					Reason: "MachineSet management/mgmt-md-1 needs it"},
			},
		},
		"the load balancer's template has no label": {
			from: source(fixture.Unset("ConfigMap", "mgmt-load-balancer", "metadata", "labels")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleObjects, Object: "ConfigMap management/mgmt-load-balancer",
				Reason: "DevCluster management/mgmt needs it"}},
		},
		"the credentials of the OpenStack Resource Controller have no label": {
			from: source(fixture.Unset("Secret", "cloud-credentials", "metadata", "labels")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleObjects, Object: "Secret management/cloud-credentials",
				Reason: "ServerGroup management/mgmt-control-plane needs it"}},
		},
		"the credentials of the infrastructure have no label": {
			from: source(fixture.Set("DevCluster", "mgmt", identity("Secret"), "spec", "identityRef")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleObjects, Object: "Secret management/unrelated",
				Reason: "DevCluster management/mgmt needs it"}},
		},
		"the target has other credentials under that name": {
			from: source(fixture.Set("DevCluster", "mgmt", identity("Secret"), "spec", "identityRef")),
			to:   withCredentials(fixture.Set("Secret", "unrelated", "YW5vdGhlcg==", "data", "password")),
			want: []pivot.Refusal{{Rule: pivot.RuleObjects, Object: "Secret management/unrelated",
				Reason: "the target has one with other data"}},
		},
		"the credentials of a machine have no label": {
			from: source(fixture.Set("DevMachine", "mgmt-cp-a", identity(""), "spec", "identityRef")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleObjects, Object: "Secret management/unrelated",
				Reason: "no label clusterctl.cluster.x-k8s.io/move"}},
		},
		"the OpenStack Resource Controller's definitions have no label": {
			from: with(source(), unlabelled("ServerGroup")), to: target(),
			want: []pivot.Refusal{{Rule: pivot.RuleLabels, Object: "CRD servergroups.openstack.k-orc.cloud",
				Reason: "at the source"}},
		},
		"the target holds one of the objects": {
			from: source(), to: side{providers: providers(), objects: fixture.One("Secret", "mgmt-ca")},
			want: []pivot.Refusal{{Rule: pivot.RuleTarget, Object: "Secret management/mgmt-ca", Reason: "overwritten"}},
		},
		"the cluster does not exist": {
			from: side{providers: providers()}, to: target(),
			want: []pivot.Refusal{
				{Rule: pivot.RuleCluster, Object: "Cluster management/mgmt", Reason: "does not exist"},
				{Rule: pivot.RuleObjects, Reason: "0 objects"},
			},
		},
		"several reasons at once are all listed": {
			from: source(fixture.Set("Cluster", "mgmt", true, "spec", "paused"),
				fixture.Unset("Machine", "mgmt-cp-a", "status", "nodeRef")),
			to: side{providers: providers()[1:]},
			want: []pivot.Refusal{
				{Rule: pivot.RuleProviders, Object: "provider cluster-api", Reason: "not installed"},
				{Rule: pivot.RulePaused, Object: "Cluster management/mgmt", Reason: "is paused"},
				{Rule: pivot.RuleMachines, Object: "Machine management/mgmt-cp-a", Reason: "no node"},
			},
		},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			from, to := sides(t, row.from, row.to)
			_, err := pivot.NewPlan(t.Context(), from, to, scope)
			if fault.CodeOf(err) != fault.PivotRefused || fault.HintOf(err) == "" {
				t.Fatalf("got %v, want a refusal with a hint", err)
			}
			got := pivot.Refusals(err)
			if len(got) != len(row.want) {
				t.Fatalf("got %d reasons, want %d:\n%v", len(got), len(row.want), err)
			}
			for i, want := range row.want {
				if got[i].Rule != want.Rule || got[i].Object != want.Object ||
					!strings.Contains(got[i].Reason, want.Reason) {
					t.Errorf("reason %d is %+v, want %+v", i, *got[i], want)
				}
				if !strings.Contains(err.Error(), got[i].Error()) {
					t.Errorf("%q is not in the message:\n%v", got[i].Error(), err)
				}
				if got[i].Remedy == "" {
					t.Errorf("reason %d has no remedy: %+v", i, *got[i])
				}
			}
		})
	}
}

// A machine that a health check has replaced is being deleted: the pivot waits until it is gone.
func TestAMoveWaitsForAMachineThatIsBeingReplaced(t *testing.T) {
	from, to := sides(t, source(), target())
	for _, machine := range fixture.One("Machine", "mgmt-md-1-b") {
		machine.SetNamespace(scope.Namespace)
		if err := from.Client.Delete(t.Context(), machine); err != nil {
			t.Fatal(err)
		}
	}
	_, err := pivot.NewPlan(t.Context(), from, to, scope)
	refusals := pivot.Refusals(err)
	if len(refusals) != 1 || refusals[0].Rule != pivot.RuleMachines || refusals[0].Reason != "is being deleted" ||
		!refusals[0].Passes {
		t.Errorf("got %v, want one refusal that passes", err)
	}
}

// The chart makes some Secrets on both sides: what names them finds the same there.
func TestPlanLeavesASecretThatTheTargetHas(t *testing.T) {
	names := fixture.Set("DevCluster", "mgmt", identity("Secret"), "spec", "identityRef")
	from, to := sides(t, source(names), withCredentials())
	if _, err := pivot.NewPlan(t.Context(), from, to, scope); err != nil {
		t.Error(err)
	}
}

// TestPlanWithoutAnyLabel verifies the refusal of a move for which clusterctl would silently move 0 objects.
func TestPlanWithoutAnyLabel(t *testing.T) {
	from, to := sides(t, with(source(), unlabelled("*")), target())
	_, err := pivot.NewPlan(t.Context(), from, to, scope)
	if fault.CodeOf(err) != fault.PivotRefused {
		t.Fatalf("got %v, want a refusal", err)
	}
	named := 0
	for _, r := range pivot.Refusals(err) {
		if r.Rule == pivot.RuleLabels {
			named++
		}
	}
	if want := len(fixture.Kinds()); named != want {
		t.Errorf("%d CRDs are named, want all %d:\n%v", named, want, err)
	}
}

func TestPlanIsNoRefusalWhenAnAPIDoesNotAnswer(t *testing.T) {
	broken := errors.New("connection refused")
	from, to := sides(t, source(), target())
	inner := to.Client.(client.WithWatch)
	to.Client = interceptor.NewClient(inner, interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, _ ...client.ListOption) error {
			return broken
		},
	})
	_, err := pivot.NewPlan(t.Context(), from, to, scope)
	if !errors.Is(err, broken) || fault.CodeOf(err) != fault.ClusterUnreachable || !fault.CanRetry(err) {
		t.Errorf("got %v (code %s), want a retryable %s that wraps the cause", err, fault.CodeOf(err),
			fault.ClusterUnreachable)
	}
}
