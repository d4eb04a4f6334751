package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

func isSystem(namespace string) bool {
	return namespace == "default" || strings.HasPrefix(namespace, "kube-")
}

// shared returns why a namespace of the release stays; empty if it goes.
func (i inventory) shared(namespace object) string {
	switch {
	case i.mark.namespaces()[namespace.Name]:
		return "it was there before install"
	case !onlyManagedByUs(namespace):
		return "another owner created or changed it"
	case i.inhabited[namespace.Name] != "":
		return i.inhabited[namespace.Name] + " of another owner is in it"
	}
	return ""
}

// namespacesOfOthers returns the namespaces that others made, as owned.NamespacesAnnotation has them: those on record,
// and those without the labels of what the release made. After a first run that was killed, Flux's namespace may be
// there.
func (r *Run) namespacesOfOthers(ctx context.Context) (string, error) {
	m, err := readMark(ctx, r.cluster)
	if err != nil {
		return "", err
	}
	ours, err := r.made(ctx)
	if err != nil {
		return "", err
	}
	list := metadataList(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := r.cluster.List(ctx, list); err != nil {
		return "", fmt.Errorf("list the namespaces: %w", err)
	}
	names := m.namespaces()
	for i := range list.Items {
		o := &list.Items[i]
		isFlux := o.Name == flux.Namespace && appliedByUs(o) && onlyManagedByUs(o)
		ofChart := m.ConfigMap != nil && isOnlyOfHelm(o)
		if !ours.applied(o) && !rollout.Made(ownRelease(), o) && !isFlux && !ofChart && !isSystem(o.Name) {
			names[o.Name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ","), nil
}

// onlyManagedByUs reports whether only this program, Flux and Kubernetes have written an object. Without managers this
// is not known: the result is false. Flux removes kubectl from the managers of what it applies.
func onlyManagedByUs(o object) bool {
	managers := o.GetManagedFields()
	return len(managers) > 0 && !slices.ContainsFunc(managers, func(f metav1.ManagedFieldsEntry) bool {
		return f.Subresource == "" && !slices.Contains([]string{kube.FieldOwner, "kustomize-controller",
			"helm-controller", "kube-controller-manager", "kube-apiserver"}, f.Manager)
	})
}

// readNamespaces reads, among all objects, in which namespaces of the release others have something, and which ones
// Helm created for charts. What is in namespaces otherwise does not outlive them: see deletedDependents.
func (i *inventory) readNamespaces(all []object) {
	namespaces, named := map[string]bool{}, map[string]int{}
	for _, o := range all {
		if o.Kind == "Namespace" && !isSystem(o.Name) && o.DeletionTimestamp == nil {
			namespaces[o.Name] = true
			if len(i.charts) > 0 && isOnlyOfHelm(o) && !i.mark.namespaces()[o.Name] {
				i.byHelm = append(i.byHelm, o.Name)
			}
		}
	}
	inAll := func(o object) string { return o.GroupVersionKind().GroupKind().String() + "/" + o.Name }
	for _, o := range all {
		if namespaces[o.Namespace] || o.Namespace == "default" {
			named[inAll(o)]++
		}
	}
	clear(i.inhabited) // it is that of this moment
	for _, o := range all {
		// a controller makes it for each namespace
		inEach := len(namespaces) > 1 && named[inAll(o)] == len(namespaces)+1
		if o.Namespace == "" || i.inhabited[o.Namespace] != "" || inEach {
			continue
		}
		if !isWork(o) && !isPassing(o) && len(o.OwnerReferences) == 0 && !i.isOurs(o) && !i.isOfController(o) {
			i.inhabited[o.Namespace] = called(o)
		}
	}
}

// isOnlyOfHelm reports whether Helm has created a namespace, and no other owner has changed it.
func isOnlyOfHelm(namespace object) bool {
	return onlyManagedByUs(namespace) && chartOf(namespace).Name == "" &&
		applier(namespace).Name == "" && slices.ContainsFunc(namespace.ManagedFields,
		func(f metav1.ManagedFieldsEntry) bool { return f.Manager == "helm-controller" })
}

// isPassing reports whether Kubernetes and controllers create an object whenever they need it.
func isPassing(o object) bool {
	kind := o.GroupVersionKind()
	return slices.Contains([]string{"Event", "Lease", "Endpoints", "EndpointSlice"}, kind.Kind) ||
		kind.Group == "metrics.k8s.io" || kind.Kind == "ConfigMap" && o.Name == "kube-root-ca.crt" ||
		kind.Kind == "ServiceAccount" && o.Name == "default"
}

// isOfController reports whether a controller made a ConfigMap or a Secret for a component, without labels or an owner.
func (i inventory) isOfController(o object) bool {
	annotations, labels := o.Annotations, o.Labels
	switch {
	case o.Kind == "ConfigMap":
		return o.Namespace == flux.Namespace && o.Name == newMark().Name
	case o.Kind != "Secret":
		return false
	case annotations["cert-manager.io/certificate-name"] != "", annotations["kubernetes.io/service-account.name"] != "":
		return true // its Certificate or ServiceAccount counts in its place
	case o.Name == "cert-manager-webhook-ca" && annotations["cert-manager.io/allow-direct-injection"] != "":
		return true
	case labels["owner"] == "helm":
		return labels["name"] == flux.ReleaseName || i.charts.hasName(labels["name"])
	}
	return isOfFluxPods(o)
}
