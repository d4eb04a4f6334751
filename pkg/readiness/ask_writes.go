package readiness

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// checkName is the name of objects in dry runs, which are never stored.
const checkName = "cluster-init-check"

// created are the kinds of which the check dry-runs creating one object, the most important first.
var created = []struct{ group, kind string }{
	{"cluster.x-k8s.io", "Cluster"}, {"cluster.x-k8s.io", "MachineDeployment"}, {"cluster.x-k8s.io", "Machine"},
	{"cert-manager.io", "Certificate"},
	{"kustomize.toolkit.fluxcd.io", "Kustomization"}, {"helm.toolkit.fluxcd.io", "HelmRelease"},
	{"source.toolkit.fluxcd.io", "GitRepository"}, {"source.toolkit.fluxcd.io", "OCIRepository"},
	{"", "Service"}, {"coordination.k8s.io", "Lease"},
}

// changed are the kinds of which the check dry-runs changing one object, and with subresource its status.
var changed = []struct {
	group, kind string
	subresource string
}{
	{"cluster.x-k8s.io", "Cluster", ""}, {"cluster.x-k8s.io", "Cluster", "status"}, {"cluster.x-k8s.io", "Machine", ""},
	{"kustomize.toolkit.fluxcd.io", "Kustomization", ""},
	{"kustomize.toolkit.fluxcd.io", "Kustomization", "status"}, {"apps", "Deployment", ""}, {"", "Node", ""},
	{"", "Node", "status"}, {"", "Pod", "status"}, {"coordination.k8s.io", "Lease", ""},
}

// writeQuestions dry-run what is written all the time. The API server decides, including its webhooks and quotas, and
// stores nothing.
func (o *observing) writeQuestions(v *view) []question {
	var questions []question
	for _, u := range v.workloads() {
		if u.GetDeletionTimestamp() == nil {
			questions = append(questions, func(ctx context.Context) { o.tryPod(ctx, u) })
		}
	}
	for _, of := range created {
		if u := v.sample(of.group, of.kind); u != nil {
			questions = append(questions, func(ctx context.Context) {
				o.tried(DryRunCreate, health.RefOf(u), capi.DryRunCreate(ctx, o.Client, u, u.GetNamespace()))
			})
		}
	}
	if v.objects[health.Ref{Kind: "Namespace", Name: flux.Namespace}] != nil {
		for _, object := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}, &corev1.ServiceAccount{}} {
			questions = append(questions, func(ctx context.Context) { o.tryNew(ctx, object) })
		}
	}
	for _, of := range changed {
		if u := v.sample(of.group, of.kind); u != nil {
			questions = append(questions, func(ctx context.Context) { o.tryChange(ctx, u, of.subresource) })
		}
	}
	return questions
}

// sample is an object of a kind that is not being deleted, preferably of an installed component.
func (v *view) sample(group, kind string) *unstructured.Unstructured {
	var other *unstructured.Unstructured
	for _, u := range v.list(group, kind) {
		if u.GetDeletionTimestamp() != nil {
			continue
		}
		if v.installed[u.GetNamespace()] {
			return u
		}
		if other == nil {
			other = u
		}
	}
	return other
}

// tryPod dry-runs a Pod as the controller of a workload would create it.
func (o *observing) tryPod(ctx context.Context, workload *unstructured.Unstructured) {
	template, _, _ := unstructured.NestedMap(workload.Object, "spec", "template")
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, pod); err != nil {
		o.notChecked("whether Pods of %s would be accepted: %v", health.RefOf(workload), err)
		return
	}
	pod.ObjectMeta = metav1.ObjectMeta{GenerateName: workload.GetName() + "-", Namespace: workload.GetNamespace(),
		Labels: pod.Labels, Annotations: pod.Annotations}
	o.tried(DryRunPod, health.RefOf(workload), o.Create(ctx, pod, client.DryRunAll))
}

// tryNew dry-runs a new empty object in Flux's namespace.
func (o *observing) tryNew(ctx context.Context, object client.Object) {
	object.SetNamespace(flux.Namespace)
	object.SetName(checkName)
	gvk, err := o.GroupVersionKindFor(object)
	if err != nil {
		o.notChecked("whether a new %T would be accepted: %v", object, err)
		return
	}
	o.tried(DryRunCreate, health.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: flux.Namespace, Name: checkName},
		client.IgnoreAlreadyExists(o.Create(ctx, object, client.DryRunAll)))
}

// tryChange dry-runs a change of an existing object.
func (o *observing) tryChange(ctx context.Context, u *unstructured.Unstructured, subresource string) {
	fresh := &unstructured.Unstructured{}
	fresh.SetGroupVersionKind(u.GroupVersionKind())
	fresh.SetNamespace(u.GetNamespace())
	fresh.SetName(u.GetName())
	patch := client.RawPatch(types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"cluster-init.io/check":"dry run"}}}`))
	var err error
	if subresource == "" {
		err = o.Patch(ctx, fresh, patch, client.DryRunAll, client.FieldOwner(kube.FieldOwner))
	} else {
		err = o.SubResource(subresource).Patch(ctx, fresh, patch, client.DryRunAll, client.FieldOwner(kube.FieldOwner))
	}
	o.tried(DryRunUpdate, health.RefOf(u), client.IgnoreNotFound(err))
}

func (o *observing) tried(kind string, r health.Ref, err error) {
	if err != nil && unanswered(err) {
		o.notChecked("whether the %s cluster would accept something like %s: %v", o.Name, r, err)
		return
	}
	p := Probe{Kind: kind, Object: r, OK: err == nil}
	if err != nil {
		p.Message = err.Error()
	}
	o.probed(p)
}
