package readiness

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// objectsOf reads a list of objects, with numbers as an API server's answer has them.
func objectsOf(t *testing.T, content string) []*unstructured.Unstructured {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	var list []*unstructured.Unstructured
	for _, each := range raw {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(each); err != nil {
			t.Fatal(err)
		}
		list = append(list, u)
	}
	return list
}

// healthy is a cluster in which nothing is wrong, of which every kind is known.
func healthy(t *testing.T) Observation {
	t.Helper()
	content, err := os.ReadFile("testdata/healthy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o := Observation{Cluster: "management", At: noon, Local: noon, Objects: objectsOf(t, string(content))}
	for _, kind := range slices.Concat(builtInKinds(), namedKinds(), []kube.Served{definitionKind()}) {
		o.Kinds = append(o.Kinds, schema.GroupKind{Group: kind.Resource.Group, Kind: kind.Kind})
	}
	for _, u := range o.Objects {
		if kind := u.GroupVersionKind().GroupKind(); !slices.Contains(o.Kinds, kind) {
			o.Kinds = append(o.Kinds, kind)
		}
	}
	o.Probes = []Probe{{Kind: ReadyCheck, Object: health.Ref{Kind: "Check", Name: "readyz"}, OK: true}}
	o.Expiries = machineExpiries(o.Objects)
	return o
}

func ref(text string) health.Ref {
	parts := strings.Split(text, "/")
	switch len(parts) {
	case 2:
		return health.Ref{Kind: parts[0], Name: parts[1]}
	default:
		return health.Ref{Kind: parts[0], Namespace: parts[1], Name: parts[2]}
	}
}

func (o *Observation) find(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	for _, u := range o.Objects {
		if health.RefOf(u).String() == name {
			return u
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

func set(t *testing.T, u *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(u.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

func (o *Observation) drop(t *testing.T, name string) {
	t.Helper()
	o.find(t, name)
	o.Objects = slices.DeleteFunc(o.Objects,
		func(u *unstructured.Unstructured) bool { return health.RefOf(u).String() == name })
}

func (o *Observation) add(t *testing.T, content string) {
	o.Objects = append(o.Objects, objectsOf(t, content)...)
}

func (o *Observation) probe(kind, object, message string) {
	o.Probes = append(o.Probes, Probe{Kind: kind, Object: ref(object), Message: message})
}

// secondNode is a worker whose kubelet lives.
const secondNode = `
- {apiVersion: v1, kind: Node, metadata: {name: worker, creationTimestamp: "2026-01-01T11:00:00Z", labels: {kubernetes.io/os: linux}}, spec: {}, status: {conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {namespace: kube-node-lease, name: worker}, spec: {holderIdentity: worker, leaseDurationSeconds: 40, renewTime: "2026-01-01T11:59:55.000000Z"}}
`

// failedMachine is a machine of a pool that failed its health check, with more of its metadata and conditions.
func failedMachine(pool, metadata, conditions string) string {
	return `[{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {namespace: default, name: w, ` + metadata +
		`labels: {cluster.x-k8s.io/deployment-name: ` + pool + `}}, spec: {clusterName: demo}, status: {conditions: [` +
		`{type: HealthCheckSucceeded, status: "False", reason: NodeStartupTimeout, message: "Health check failed:\n` +
		`  * Node failed to report startup in 20m0s"}` + conditions + `]}}]`
}

// healthCheck is that of a pool.
func healthCheck(allowed, pool string) string {
	return `[{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineHealthCheck, metadata: {namespace: default, ` +
		`name: demo-workers}, spec: {clusterName: demo, selector: {matchLabels: {cluster.x-k8s.io/deployment-name: ` +
		pool + `}}, remediation: {triggerIf: {unhealthyLessThanOrEqualTo: 1}}}, status: {expectedMachines: 3, ` +
		`currentHealthy: 1, conditions: [{type: RemediationAllowed, status: "` + allowed + `", reason: x}]}}]`
}

// Each fault is one change of a healthy cluster, and gives the findings that are named, and no others.
func TestJudge(t *testing.T) {
	type edit func(t *testing.T, o *Observation)
	setTo := func(object string, value any, path ...string) edit {
		return func(t *testing.T, o *Observation) { set(t, o.find(t, object), value, path...) }
	}
	gone := func(object string) edit { return func(t *testing.T, o *Observation) { o.drop(t, object) } }
	more := func(content string) edit { return func(t *testing.T, o *Observation) { o.add(t, content) } }
	probe := func(kind, object, message string) edit {
		return func(_ *testing.T, o *Observation) { o.probe(kind, object, message) }
	}
	all := func(edits ...edit) edit {
		return func(t *testing.T, o *Observation) {
			for _, e := range edits {
				e(t, o)
			}
		}
	}
	written := func(group, kind, namespace, name string) edit {
		return func(_ *testing.T, o *Observation) {
			object := health.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}
			o.Writes = append(o.Writes, Write{Object: object, By: "kubectl-edit", At: noon.Add(-time.Hour),
				Clock: noon})
		}
	}
	claim := func(namespace, since, spec string) string {
		return `[{apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Pending}, spec: {` + spec +
			`}, metadata: {namespace: ` + namespace + `, name: data, creationTimestamp: "2026-01-01T` + since +
			`:30Z"}}]`
	}
	expiry := func(object string, in time.Duration, renewedBy string) edit {
		return func(_ *testing.T, o *Observation) {
			o.Expiries = append(o.Expiries, Expiry{Object: ref(object), What: "x", At: noon.Add(in),
				RenewedBy: renewedBy})
		}
	}
	twoNodes := all(more(secondNode), setTo("DaemonSet/kube-system/kube-proxy", int64(2), "status",
		"desiredNumberScheduled"),
		setTo("DaemonSet/kube-system/kube-proxy", int64(2), "status", "numberReady"))
	seen := map[string][]string{}
	for name, row := range map[string]struct {
		edit edit
		want string // "ID Object", one line each, in the order of Judge
	}{
		"nothing": {all(), ""},
		// alive
		"Cluster API's controller is scaled down": {setTo("Deployment/capi-system/capi-controller-manager", int64(0),
			"spec", "replicas"), "workload-scaled-down Deployment/capi-system/capi-controller-manager"},
		"what follows from it is not said by itself": {all(setTo("Deployment/capi-system/capi-controller-manager",
			int64(0), "spec", "replicas"), setTo("Deployment/capi-system/capi-controller-manager", "capi", "spec",
			"template", "metadata", "labels", "app"),
			gone("EndpointSlice/capi-system/capi-1"), probe(DryRunCreate, "Cluster/default/demo",
				`Internal error occurred: failed calling webhook "validation.cluster.cluster.x-k8s.io": failed to call webhook: no endpoints available`)),
			"workload-scaled-down Deployment/capi-system/capi-controller-manager"},
		"a warning of a workload hides no blocking finding": {all(
			setTo("Deployment/capi-system/capi-controller-manager", true, "spec", "paused"),
			setTo("Deployment/capi-system/capi-controller-manager", "capi", "spec", "template", "metadata", "labels",
				"app"), gone("EndpointSlice/capi-system/capi-1")), "webhook-silent " +
			"ValidatingWebhookConfiguration/capi\nconversion-webhook-silent " +
			"CustomResourceDefinition/clusters.cluster.x-k8s.io\n" +
			"workload-paused Deployment/capi-system/capi-controller-manager"},
		"a webhook that is skipped hides none that refuses": {all(
			setTo("Deployment/capi-system/capi-controller-manager", "capi", "spec", "template", "metadata", "labels",
				"app"), gone("EndpointSlice/capi-system/capi-1"), more(
				`[{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a-skipped, creationTimestamp: "2026-01-01T11:00:00Z"}, webhooks: [{name: skipped.example.org, failurePolicy: Ignore, clientConfig: {service: {namespace: capi-system, name: capi-webhook-service}}, rules: [{apiGroups: [cluster.x-k8s.io], resources: [clusters]}]}]}]`)),
			"webhook-silent ValidatingWebhookConfiguration/capi\nconversion-webhook-silent " +
				"CustomResourceDefinition/clusters.cluster.x-k8s.io\n" +
				"webhook-silent ValidatingWebhookConfiguration/a-skipped"},
		"a kubelet that may be silent hides nothing that is known": {all(gone("Lease/kube-node-lease/cp"),
			gone("EndpointSlice/capi-system/capi-1"), setTo("Deployment/capi-system/capi-controller-manager", "capi",
				"spec", "template", "metadata", "labels", "app")), "webhook-silent " +
			"ValidatingWebhookConfiguration/capi\nconversion-webhook-silent " +
			"CustomResourceDefinition/clusters.cluster.x-k8s.io\nkubelet-silent Node/cp"},
		"Flux is scaled down by Flux": {all(setTo("Deployment/flux-system/helm-controller", int64(0), "spec",
			"replicas"), func(_ *testing.T, o *Observation) {
			o.Writes = append(o.Writes, Write{Object: health.Ref{Group: "apps", Kind: "Deployment",
				Namespace: "flux-system", Name: "helm-controller"}, ReplicasBy: "kustomize-controller", Clock: noon})
		}), "workload-scaled-down Deployment/flux-system/helm-controller"},
		"a user's own workload that its definition scales down": {all(
			more(
				`[{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: spare, labels: {kustomize.toolkit.fluxcd.io/name: shop}}, spec: {replicas: 0}}]`), func(_ *testing.T, o *Observation) {
				o.Writes = append(o.Writes,
					Write{Object: health.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop",
						Name: "spare"}, ReplicasBy: "kustomize-controller", Clock: noon})
			}), ""},
		"a stranger's workload is none of ours": {more(
			`[{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: spare}, spec: {replicas: 0}}]`),
			""},
		"a controller of Flux was deleted": {gone("Deployment/flux-system/kustomize-controller"),
			"workload-missing Deployment/flux-system/kustomize-controller"},
		"a Deployment has no Pods": {all(setTo("Deployment/capi-system/capi-controller-manager", int64(0), "status",
			"availableReplicas"),
			setTo("Deployment/capi-system/capi-controller-manager",
				[]any{map[string]any{"type": "Available", "status": "False",
					"lastTransitionTime": "2026-01-01T11:50:00Z"}}, "status", "conditions")),
			"workload-unavailable Deployment/capi-system/capi-controller-manager"},
		"a Deployment has just begun to start": {all(setTo("Deployment/capi-system/capi-controller-manager", int64(0),
			"status", "availableReplicas"),
			setTo("Deployment/capi-system/capi-controller-manager",
				[]any{map[string]any{"type": "Available", "status": "False",
					"lastTransitionTime": "2026-01-01T11:59:30Z"}}, "status", "conditions")), ""},
		"kube-proxy selects no node": {setTo("DaemonSet/kube-system/kube-proxy", int64(0), "status",
			"desiredNumberScheduled"), "workload-without-nodes DaemonSet/kube-system/kube-proxy"},
		"a DaemonSet for other nodes": {more(
			`[{apiVersion: apps/v1, kind: DaemonSet, metadata: {namespace: kube-system, name: w, creationTimestamp: "2026-01-01T11:00:00Z"}, spec: {template: {spec: {nodeSelector: {kubernetes.io/os: windows}}}}, status: {desiredNumberScheduled: 0}}]`), ""},
		"kube-proxy was deleted": {gone("DaemonSet/kube-system/kube-proxy"),
			"kube-proxy-missing DaemonSet/kube-system/kube-proxy"},
		"the scheduler is gone": {gone("Pod/kube-system/kube-scheduler-cp"),
			"control-plane-part-missing Pod/kube-system/kube-scheduler-cp"},
		"the controller manager is gone": {gone("Pod/kube-system/kube-controller-manager-cp"),
			"control-plane-part-missing Pod/kube-system/kube-controller-manager-cp"},
		"etcd runs elsewhere": {gone("Pod/kube-system/etcd-cp"), ""},
		"the control plane runs elsewhere": {all(gone("Pod/kube-system/etcd-cp"),
			gone("Pod/kube-system/kube-apiserver-cp"), gone("Pod/kube-system/kube-scheduler-cp"),
			gone("Pod/kube-system/kube-controller-manager-cp")), ""},
		"which Pods there are is not known": {all(gone("Pod/kube-system/kube-scheduler-cp"), unknown("", "Pod")), ""},
		"the scheduler crashes": {setTo("Pod/kube-system/kube-scheduler-cp",
			[]any{map[string]any{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T11:50:00Z"}},
			"status", "conditions"),
			"control-plane-part-down Pod/kube-system/kube-scheduler-cp"},
		"no leader of Cluster API": {setTo("Lease/capi-system/controller-leader-election-capi",
			"2026-01-01T11:50:00.000000Z", "spec", "renewTime"),
			"lease-not-renewed Lease/capi-system/controller-leader-election-capi"},
		"no leader of the scheduler": {setTo("Lease/kube-system/kube-scheduler", "2026-01-01T11:50:00.000000Z", "spec",
			"renewTime"), "lease-not-renewed Lease/kube-system/kube-scheduler"},
		"a dead process holds a Lease": {all(setTo("Lease/capi-system/controller-leader-election-capi",
			"2026-01-01T11:50:00.000000Z", "spec", "renewTime"),
			setTo("Lease/capi-system/controller-leader-election-capi", "capi-controller-manager-old_1", "spec",
				"holderIdentity"),
			setTo("Lease/capi-system/controller-leader-election-capi", int64(99999), "spec", "leaseDurationSeconds")),
			"lease-held-by-dead-process Lease/capi-system/controller-leader-election-capi"},
		"a Lease of a version that is no more": {more(
			`[{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {namespace: kube-system, name: old}, spec: {holderIdentity: old-thing-1_2, leaseDurationSeconds: 15, renewTime: "2025-01-01T00:00:00.000000Z"}}]`), ""},
		"a controller has not seen a spec": {all(setTo("Cluster/default/demo", int64(3), "metadata", "generation"),
			func(_ *testing.T, o *Observation) {
				o.Writes = append(o.Writes, Write{Object: health.Ref{Group: "cluster.x-k8s.io", Kind: "Cluster",
					Namespace: "default", Name: "demo"}, By: "kubectl-edit", At: noon.Add(-time.Hour), Clock: noon})
			}), "spec-not-seen Cluster/default/demo"},
		"a controller has seen a spec, and met an error": {all(setTo("Cluster/default/demo", int64(3), "metadata",
			"generation"), func(t *testing.T, o *Observation) {
			ref := health.Ref{Group: "cluster.x-k8s.io", Kind: "Cluster", Namespace: "default", Name: "demo"}
			o.Writes = append(o.Writes, Write{Object: ref, At: noon.Add(-time.Hour), Clock: noon})
			u := o.find(t, "Cluster/default/demo")
			conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
			set(t, u, append(conditions, map[string]any{"type": "Paused", "status": "False",
				"observedGeneration": int64(3)}), "status", "conditions")
		}), ""},
		"a spec that was just written": {all(setTo("Cluster/default/demo", int64(3), "metadata", "generation"),
			func(_ *testing.T, o *Observation) {
				o.Writes = append(o.Writes, Write{Object: health.Ref{Group: "cluster.x-k8s.io", Kind: "Cluster",
					Namespace: "default", Name: "demo"}, At: noon.Add(-time.Second), Clock: noon})
			}), ""},
		// nodes
		"the only node is cordoned": {setTo("Node/cp", true, "spec", "unschedulable"), "node-cordoned Node/cp"},
		"the only node is tainted": {setTo("Node/cp", []any{map[string]any{"key": "team", "effect": "NoSchedule"}},
			"spec", "taints"), "node-unschedulable Node/cp"},
		"a control plane's taint": {setTo(
			"Node/cp", []any{map[string]any{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}},
			"spec", "taints"), ""},
		"a kubelet is silent": {setTo("Lease/kube-node-lease/cp", "2026-01-01T11:58:00.000000Z", "spec",
			"renewTime"), "kubelet-silent Node/cp"},
		"no kubelet lives, so nothing answers": {all(setTo("Lease/kube-node-lease/cp", "2026-01-01T11:58:00.000000Z",
			"spec", "renewTime"), gone("EndpointSlice/capi-system/capi-1"),
			setTo("EndpointSlice/kube-system/kube-dns-1", []any{}, "endpoints"),
			setTo("Deployment/capi-system/capi-controller-manager", "capi", "spec", "template", "metadata", "labels",
				"app")), "kubelet-silent Node/cp"},
		"a node that is drained": {all(setTo("Node/cp", true, "spec", "unschedulable"),
			setTo("Machine/default/demo-cp", "2026-01-01T11:59:00Z", "metadata", "deletionTimestamp")), ""},
		// what everything passes through
		"DNS has no endpoint": {setTo("EndpointSlice/kube-system/kube-dns-1", []any{}, "endpoints"),
			"dns-without-endpoints Service/kube-system/kube-dns"},
		"DNS has no Service": {gone("Service/kube-system/kube-dns"),
			"dns-missing Service/kube-system/kube-dns"},
		"endpoints are not known": {all(setTo("EndpointSlice/kube-system/kube-dns-1", []any{}, "endpoints"),
			unknown("discovery.k8s.io", "EndpointSlice")), ""},
		"a webhook's Service was deleted": {gone("Service/capi-system/capi-webhook-service"), "webhook-silent " +
			"ValidatingWebhookConfiguration/capi\nconversion-webhook-silent " +
			"CustomResourceDefinition/clusters.cluster.x-k8s.io"},
		"a webhook's Service has no Pods": {gone("EndpointSlice/capi-system/capi-1"), "webhook-silent " +
			"ValidatingWebhookConfiguration/capi\nconversion-webhook-silent " +
			"CustomResourceDefinition/clusters.cluster.x-k8s.io"},
		"a stranger's webhook refuses all": {all(probe(DryRunPod, "Deployment/capi-system/capi-controller-manager",
			`admission webhook "no.example.org" denied the request: no`),
			probe(DryRunPod, "Deployment/flux-system/helm-controller",
				`admission webhook "no.example.org" denied the request: no`)),
			"webhook-refuses ValidatingWebhookConfiguration/no.example.org"},
		"a webhook by URL is silent": {probe(DryRunCreate, "Cluster/default/demo",
			`Internal error occurred: failed calling webhook "no.example.org": Post "https://192.0.2.1/": context deadline exceeded`), "webhook-silent ValidatingWebhookConfiguration/no.example.org"},
		"a quota is full": {probe(DryRunPod, "Deployment/flux-system/helm-controller",
			`pods "helm-controller-x" is forbidden: exceeded quota: none, requested: pods=1, used: pods=3, limited: pods=0`), "quota-exceeded Deployment/flux-system/helm-controller"},
		"Pod Security refuses": {probe(DryRunPod, "Deployment/capd-system/capd",
			`pods "capd-x" is forbidden: violates PodSecurity "restricted:latest": hostPath volumes`),
			"pod-security-refuses Namespace/capd-system"},
		"a priority class is missing": {probe(DryRunPod, "Deployment/flux-system/helm-controller",
			`pods "x" is forbidden: no PriorityClass with name system-none was found`),
			"priority-class-missing Deployment/flux-system/helm-controller"},
		"a service account is missing": {probe(DryRunPod, "Deployment/flux-system/helm-controller",
			`pods "x" is forbidden: error looking up service account flux-system/helm-controller: serviceaccount "helm-controller" not found`), "service-account-missing Deployment/flux-system/helm-controller"},
		"an API without a server": {more(
			`[{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.metrics, creationTimestamp: "2026-01-01T11:00:00Z"}, spec: {service: {namespace: shop, name: metrics}}, status: {conditions: [{type: Available, status: "False", message: no}]}}]`),
			"api-unavailable APIService/v1.metrics"},
		"the API server fails a check": {probe(ReadyCheck, "Check/etcd", "failed"),
			"api-server-check-failed Check/etcd"},
		"etcd is full": {probe(EtcdHealth, "Pod/kube-system/etcd-cp", "ALARM NOSPACE"),
			"etcd-full Pod/kube-system/etcd-cp"},
		"an artifact is lost": {probe(ArtifactRead, "GitRepository/flux-system/telco-cloud-init",
			"404 Not Found"), "artifact-unreadable GitRepository/flux-system/telco-cloud-init"},
		"a permission is missing": {probe(Permission, "ServiceAccount/flux-system/helm-controller",
			"list helmreleases"), "permission-missing ServiceAccount/flux-system/helm-controller"},
		"a role is missing": {gone("ClusterRole/capi-manager-role"),
			"role-missing ClusterRole/capi-manager-role"},
		"a definition was deleted": {func(_ *testing.T, o *Observation) {
			o.Missing = []Applied{{health.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition",
				Name: "x"}, health.Ref{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization",
				Namespace: "flux-system", Name: "capi"}}}
		}, "applied-object-missing CustomResourceDefinition/x"},
		"what a suspended Kustomization applied has moved away": {all(
			setTo("Kustomization/flux-system/capi", true, "spec", "suspend"), func(_ *testing.T, o *Observation) {
				o.Missing = []Applied{{health.Ref{Group: "cluster.x-k8s.io", Kind: "Cluster", Namespace: "management",
					Name: "demo"}, health.Ref{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization",
					Namespace: "flux-system", Name: "capi"}}}
			}), "suspended Kustomization/flux-system/capi"},
		"a policy cuts Flux off": {more(
			`[{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {namespace: flux-system, name: deny}, spec: {podSelector: {}, policyTypes: [Ingress, Egress]}}]`), "network-policy-cuts-off NetworkPolicy/flux-system/deny"},
		"CoreDNS would not start": {probe(Configuration, "ConfigMap/kube-system/coredns", "no"),
			"configuration-invalid ConfigMap/kube-system/coredns"},
		"configuration was changed by hand": {func(_ *testing.T, o *Observation) {
			o.Writes = append(o.Writes, Write{Object: ref("ConfigMap/kube-system/coredns"), By: "kubectl-edit",
				At: noon.Add(-time.Minute), Clock: noon})
		}, "configuration-changed ConfigMap/kube-system/coredns"},
		"configuration was deleted": {gone("ConfigMap/kube-system/coredns"),
			"configuration-missing ConfigMap/kube-system/coredns"},
		// outside of the cluster
		"the registry runs": {func(_ *testing.T, o *Observation) {
			runs := Probe{Kind: RegistryRuns, Object: ref("Container/demo-registry"), OK: true, Message: "running"}
			o.Probes = append(o.Probes, runs)
		}, ""},
		"the registry is stopped": {probe(RegistryRuns, "Container/demo-registry", "exited"),
			"registry-stopped Container/demo-registry"},
		"the registry is paused": {probe(RegistryRuns, "Container/demo-registry", RegistryPaused),
			"registry-paused Container/demo-registry"},
		"the registry is gone": {probe(RegistryRuns, "Container/demo-registry", RegistryAbsent),
			"registry-missing Container/demo-registry"},
		// what does not follow from another finding is not left out
		"two workloads, and one of them is scaled down": {all(setTo("Deployment/capi-system/capi-controller-manager",
			int64(0), "spec", "replicas"), setTo("EndpointSlice/kube-system/kube-dns-1", []any{}, "endpoints")),
			"workload-scaled-down Deployment/capi-system/capi-controller-manager\ndns-without-endpoints " +
				"Service/kube-system/kube-dns"},
		"one kubelet of two is silent, and a webhook too": {all(
			twoNodes, setTo("Lease/kube-node-lease/cp", "2026-01-01T11:58:00.000000Z", "spec", "renewTime"),
			gone("Service/capi-system/capi-webhook-service")),
			"kubelet-silent Node/cp\nwebhook-silent ValidatingWebhookConfiguration/capi\nconversion-webhook-silent " +
				"CustomResourceDefinition/clusters.cluster.x-k8s.io"},
		// control planes of other kinds
		"a node that has just joined": {all(gone("Pod/kube-system/kube-scheduler-cp"),
			setTo("Node/cp", "2026-01-01T11:59:30Z", "metadata", "creationTimestamp")), ""},
		"a node that leaves": {all(gone("Pod/kube-system/kube-scheduler-cp"),
			setTo("Node/cp", "2026-01-01T11:59:30Z", "metadata", "deletionTimestamp")), ""},
		"a worker has no control plane": {twoNodes, ""},
		"etcd is elsewhere":             {gone("Pod/kube-system/etcd-cp"), ""},
		"the control plane is no static Pods": {all(gone("Pod/kube-system/etcd-cp"),
			gone("Pod/kube-system/kube-apiserver-cp"), gone("Pod/kube-system/kube-scheduler-cp"),
			gone("Pod/kube-system/kube-controller-manager-cp")), ""},
		"the scheduler starts": {setTo("Pod/kube-system/kube-scheduler-cp",
			[]any{map[string]any{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T11:59:30Z"}},
			"status", "conditions"), ""},
		"one node of two is cordoned": {all(twoNodes, setTo("Node/cp", true, "spec", "unschedulable")),
			"node-cordoned Node/cp"},
		// held
		"a Machine is paused": {setTo("Machine/default/demo-cp", "", "metadata", "annotations",
			"cluster.x-k8s.io/paused"), "paused Machine/default/demo-cp"},
		"a restore holds the Cluster": {all(setTo("Cluster/default/demo", true, "spec", "paused"),
			setTo("Cluster/default/demo", owned.RestoringMark, "metadata", "annotations",
				"cluster.x-k8s.io/paused")), ""},
		"a pivot holds the Cluster": {all(setTo("Cluster/default/demo", true, "spec", "paused"),
			setTo("Cluster/default/demo", "x", "metadata", "annotations", owned.PivotAnnotation)), ""},
		"the Cluster is taken down": {all(setTo("Cluster/default/demo", true, "spec", "paused"),
			setTo("Cluster/default/demo", "x", "metadata", "annotations", owned.DownAnnotation)), ""},
		"a stranger's Kustomization rests": {more(
			`[{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {namespace: shop, name: shop}, spec: {suspend: true}}]`), ""},
		"an installed workload is not seen": {all(setTo("Deployment/capi-system/capi-controller-manager", int64(2),
			"metadata", "generation"), written("apps", "Deployment", "capi-system", "capi-controller-manager")),
			"spec-not-seen Deployment/capi-system/capi-controller-manager"},
		"a stranger's workload is not seen": {all(
			more(
				`[{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: shop, name: shop, generation: 2}, status: {observedGeneration: 1}}]`), written("apps", "Deployment", "shop", "shop")), ""},
		"unknown writer of a spec": {setTo("Cluster/default/demo", int64(3), "metadata", "generation"), ""},
		"a spec that was seen":     {written("cluster.x-k8s.io", "Cluster", "default", "demo"), ""},
		"its controller counts no specs": {all(setTo("Cluster/default/demo", map[string]any{}, "status"),
			written("cluster.x-k8s.io", "Cluster", "default", "demo")), ""},
		"a paused Cluster of a later spec": {all(setTo("Cluster/default/demo", int64(3), "metadata", "generation"),
			setTo("Cluster/default/demo", true, "spec", "paused"), written("cluster.x-k8s.io", "Cluster", "default",
				"demo")), "paused Cluster/default/demo"},
		"a claim that the default serves": {more(claim("flux-system", "11:00", "")), ""},
		"a claim of a class that is not": {more(claim("flux-system", "11:00", "storageClassName: fast")),
			"storage-class-missing PersistentVolumeClaim/flux-system/data"},
		"a claim of a class that there is": {more(claim("flux-system", "11:00", "storageClassName: standard")), ""},
		"a claim that has just come": {all(gone("StorageClass/standard"),
			more(claim("flux-system", "11:59", ""))), ""},
		"a claim that has its volume": {all(gone("StorageClass/standard"),
			more(claim("flux-system", "11:00", "volumeName: v"))), ""},
		"a stranger's claim": {all(gone("StorageClass/standard"), more(claim("shop", "11:00", ""))),
			""},
		"a class that is not the default": {all(setTo("StorageClass/standard", "false", "metadata", "annotations",
			"storageclass.kubernetes.io/is-default-class"), more(claim("flux-system", "11:00", ""))),
			"storage-class-missing PersistentVolumeClaim/flux-system/data"},
		"a certificate of a part has ended": {expiry("Secret/capi-system/tls", -time.Hour, ""),
			"expired Secret/capi-system/tls"},
		"a Cluster's certificate has ended": {expiry("Secret/default/demo-ca", -time.Hour, ""),
			"expired Secret/default/demo-ca"},
		"one that cert-manager renews later": {expiry("Secret/capi-system/tls", 24*time.Hour, "cert-manager"), ""},
		"the source is suspended": {setTo("GitRepository/flux-system/telco-cloud-init", true, "spec",
			"suspend"), "suspended GitRepository/flux-system/telco-cloud-init"},
		"the Cluster is paused": {setTo("Cluster/default/demo", true, "spec", "paused"),
			"paused Cluster/default/demo"},
		"a pivot suspends": {all(setTo("Kustomization/flux-system/capi", true, "spec", "suspend"),
			setTo("Kustomization/flux-system/capi", "default/demo", "metadata", "annotations",
				"cluster-init.io/suspended-for-pivot")), ""},
		// hanging
		"a namespace is stuck": {more(
			`[{apiVersion: v1, kind: Namespace, metadata: {name: old, deletionTimestamp: "2026-01-01T11:50:00Z"}, status: {phase: Terminating, conditions: [{type: NamespaceFinalizersRemaining, status: "True", message: some}]}}]`), "namespace-stuck Namespace/old"},
		"a Pod hangs": {setTo("Pod/capi-system/capi-controller-manager-5-y", "2026-01-01T11:50:00Z",
			"metadata", "deletionTimestamp"), "deletion-stuck Pod/capi-system/capi-controller-manager-5-y"},
		"a claim has no class": {all(gone("StorageClass/standard"),
			more(
				`[{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {namespace: flux-system, name: data, creationTimestamp: "2026-01-01T11:00:00Z"}, spec: {}, status: {phase: Pending}}]`)), "storage-class-missing PersistentVolumeClaim/flux-system/data"},
		"a Pod without any event": {more(
			`[{apiVersion: v1, kind: Pod, metadata: {namespace: flux-system, name: p, creationTimestamp: "2026-01-01T11:55:00Z"}, spec: {}, status: {phase: Pending}}]`), "pod-pending Pod/flux-system/p"},
		// ends
		"the kubeconfig ends soon": {func(_ *testing.T, o *Observation) {
			o.Expiries = append(o.Expiries,
				Expiry{Object: ref("Kubeconfig/x"), What: "client certificate of the kubeconfig",
					At: noon.Add(29 * 24 * time.Hour)})
		}, "expires-soon Kubeconfig/x"},
		"the kubeconfig has time": {func(_ *testing.T, o *Observation) {
			o.Expiries = append(o.Expiries,
				Expiry{Object: ref("Kubeconfig/x"), What: "client certificate of the kubeconfig",
					At: noon.Add(31 * 24 * time.Hour)})
		}, ""},
		"a control plane's certificate has ended": {func(_ *testing.T, o *Observation) {
			o.Expiries = append(o.Expiries, Expiry{Object: ref("Machine/default/demo-cp"), What: "x",
				At: noon.Add(-time.Hour)})
		}, "expired Machine/default/demo-cp"},
		"a stranger's certificate has ended": {func(_ *testing.T, o *Observation) {
			o.Expiries = append(o.Expiries, Expiry{Object: ref("Secret/shop/tls"), What: "x", At: noon.Add(-time.Hour)})
		}, ""},
		"cert-manager does not renew": {setTo("Certificate/capi-system/capi-serving-cert", "2026-01-01T10:00:00Z",
			"status", "renewalTime"), "renewal-overdue Certificate/capi-system/capi-serving-cert"},
		"this machine's clock is wrong": {func(_ *testing.T, o *Observation) { o.Local = noon.Add(-time.Hour) },
			"clock-differs APIServer/management"},
		"a node's clock is wrong": {all(setTo("Lease/kube-node-lease/cp", "2026-01-01T13:00:00.000000Z", "spec",
			"renewTime"), func(_ *testing.T, o *Observation) {
			o.Writes = append(o.Writes, Write{Object: health.Ref{Group: "coordination.k8s.io", Kind: "Lease",
				Namespace: "kube-node-lease", Name: "cp"}, Clock: noon.Add(-time.Second)})
		}), "clock-differs Node/cp"},
		"a clock that is behind is no silent kubelet": {all(
			setTo("Lease/kube-node-lease/cp", "2026-01-01T11:00:00.000000Z", "spec", "renewTime"),
			func(_ *testing.T, o *Observation) {
				o.Writes = append(o.Writes, Write{Object: health.Ref{Group: "coordination.k8s.io", Kind: "Lease",
					Namespace: "kube-node-lease", Name: "cp"}, Clock: noon.Add(-time.Second)})
			}), "clock-differs Node/cp"},
		"a machine is being replaced": {more(failedMachine("d", `deletionTimestamp: "2026-01-01T11:59:00Z", `+
			`finalizers: [x], `, "")), "machine-replaced Machine/default/w"},
		"a machine waits to be replaced": {more(failedMachine("w", "", `, {type: OwnerRemediated, status: "False", `+
			`reason: WaitingForRemediation, message: Waiting for remediation}`)),
			"machine-replaced Machine/default/w"},
		"a machine that its control plane keeps": {more(failedMachine("w", "", `, {type: OwnerRemediated, `+
			`status: "False", reason: CannotBeRemediated, message: quorum would be lost}`)),
			"machine-not-replaced Machine/default/w"},
		"a leader of etcd that its control plane keeps": {more(failedMachine("w", "", `, {type: OwnerRemediated, `+
			`status: "False", reason: CannotBeRemediated, message: failed to move etcd leadership}`)),
			"machine-not-replaced Machine/default/w"},
		"a health check that is blocked": {all(more(failedMachine("w", "", "")), more(healthCheck("False", "w"))),
			"health-check-blocked MachineHealthCheck/default/demo-workers"},
		"a health check that is blocked by machines that start": {more(healthCheck("False", "w")), ""},
		"a health check of other machines": {all(more(failedMachine("w", "", "")), more(healthCheck("False", "gpu"))),
			""},
		"a health check that is about to replace": {all(more(failedMachine("w", "", "")), more(healthCheck("True", "w"))),
			""},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy(t)
			row.edit(t, &o)
			var got []string
			for _, f := range Judge(o) {
				got = append(got, f.ID+" "+f.Object.String())
				if kind := fmt.Sprintf("%s certain=%t transient=%t", f.Severity, f.Certain,
					f.Transient); !slices.Contains(seen[f.ID], kind) {
					seen[f.ID] = append(seen[f.ID], kind)
				}
				if f.Cause == "" || f.Remedy == "" || f.Severity == "" {
					t.Errorf("a finding has a cause, a remedy and a severity: %+v", f)
				}
			}
			if text := strings.Join(got, "\n"); text != row.want {
				t.Errorf("found\n%s\nwant\n%s", text, row.want)
			}
		})
	}
	// Blocking and certain findings end a run; the others must not.
	const ends = "blocking certain=true transient=false"
	const warns = "warning certain=true transient=false"
	others := map[string]string{
		"pod-pending": warns, "deletion-stuck": warns, "namespace-stuck": warns, "clock-differs": warns,
		"expires-soon": warns, "machine-not-replaced": warns, "health-check-blocked": warns,
		"machine-replaced": "warning certain=true transient=true",
		"workload-paused":  warns, "webhook-silent": ends + ", " + warns,
		"kubelet-silent":  "blocking certain=false transient=false, " + ends,
		"api-unavailable": warns, "expired": ends + ", " + warns, "node-cordoned": ends + ", " + warns,
		"dns-missing":             "blocking certain=false transient=false",
		"configuration-changed":   "warning certain=false transient=false",
		"api-server-check-failed": "blocking certain=true transient=true",
		"artifact-unreadable":     "blocking certain=true transient=true",
	}
	for id, kinds := range seen {
		slices.Sort(kinds)
		want := ends
		if other, is := others[id]; is {
			want = other
		}
		if got := strings.Join(kinds, ", "); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

// unknown takes what is known of a kind away: it could not be read.
func unknown(group, kind string) func(*testing.T, *Observation) {
	return func(_ *testing.T, o *Observation) {
		o.Kinds = slices.DeleteFunc(o.Kinds,
			func(k schema.GroupKind) bool { return k == schema.GroupKind{Group: group, Kind: kind} })
	}
}

// Who could read nothing finds nothing: what is not known is not missing.
func TestNothingIsKnown(t *testing.T) {
	if found := Judge(Observation{Cluster: "management", NotChecked: []string{"all"}}); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	o := healthy(t)
	o.Kinds = nil
	if found := Judge(o); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	o.Objects = nil
	if found := Judge(o); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}

func TestCorefile(t *testing.T) {
	const whole = ".:53 {\n    errors\n    health {\n       lameduck 5s\n    }\n    ready\n    kubernetes " +
		"cluster.local in-addr.arpa ip6.arpa {\n       pods insecure\n    }\n    forward . /etc/resolv.conf {\n " +
		"max_concurrent 1000\n    }\n    cache 30 # seconds\n    loop\n    reload\n    loadbalance\n}\n"
	for name, row := range map[string]struct{ content, want string }{
		"as kubeadm makes it": {whole, ""},
		"empty":               {"", "no Corefile"},
		"interrupted":         {whole[:len(whole)-3], "does not close"},
		"a plugin's name": {strings.Replace(whole, "kubernetes cluster", "kubernets cluster", 1),
			`plugin "kubernets"`},
		"no names":     {".:53 {\n  errors\n}\n", "no plugin kubernetes"},
		"one too many": {whole + "}\n", "was not opened"},
	} {
		if got := corefile(row.content); row.want == "" && got != "" || !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

func TestEarliest(t *testing.T) {
	o := Observation{Expiries: []Expiry{{What: "late", At: noon.Add(2 * time.Hour)},
		{What: "renewed", At: noon, RenewedBy: "cert-manager"}, {What: "first", At: noon.Add(time.Hour)}}}
	if e, known := Earliest(o); !known || e.What != "first" {
		t.Errorf("%+v", e)
	}
	if _, known := Earliest(Observation{}); known {
		t.Error("nothing is known to end")
	}
}

// What a blocked health check says: how many machines are not healthy, how many it would replace, and which they are.
func TestABlockedHealthCheck(t *testing.T) {
	o := healthy(t)
	o.add(t, failedMachine("w", "", ""))
	o.add(t, healthCheck("False", "w"))
	found := Judge(o)
	if len(found) != 1 || !strings.Contains(found[0].Cause, "2 of 3 machines are not healthy, and it replaces up to 1") ||
		found[0].Message != "unhealthy: w" || !strings.Contains(found[0].Remedy, "kubectl -n default delete machine w") {
		t.Errorf("%+v", found)
	}
}
