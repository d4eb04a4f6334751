package readiness

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// finalizerOwners say who removes a finalizer, by a part of it.
var finalizerOwners = []struct{ part, owner string }{
	{"infrastructure.cluster.x-k8s.io", "the infrastructure provider's controller"},
	{"devcluster", "the controller of CAPD"}, {"openstack", "the controller of CAPO"},
	{"awsc", "the controller of CAPA"},
	{"kubeadm.controlplane", "the controller of KubeadmControlPlane"},
	{"rke2.controlplane", "the controller of RKE2ControlPlane"},
	{"cluster.x-k8s.io", "a controller of Cluster API"}, {"fluxcd.io", "the controller of Flux for its kind"},
	{"k-orc.cloud", "the controller of ORC"},
	{"acme.cert-manager.io", "cert-manager"}, {"cert-manager.io", "cert-manager"},
	{"kubernetes.io/pvc-protection", "kube-controller-manager, once no Pod uses it"},
	{"kubernetes.io/pv-protection", "kube-controller-manager"},
	{"foregroundDeletion", "kube-controller-manager, once what it owns is gone"}, {"orphan", "kube-controller-manager"},
	{"batch.kubernetes.io", "kube-controller-manager"},
}

// patience is how long a deletion may take before it counts as stuck: a server of a cloud needs minutes, a Pod has said
// how long itself.
func patience(r health.Ref) time.Duration {
	switch {
	case r.Kind == "Pod" || r.Kind == "Namespace":
		return startTime
	case strings.HasSuffix(r.Group, "cluster.x-k8s.io") || strings.HasSuffix(r.Group, "k-orc.cloud"):
		return 15 * time.Minute
	}
	return 2 * time.Minute
}

// judgeHanging finds what is being deleted for longer than that takes.
func judgeHanging(v *view) []Finding {
	var found []Finding
	for _, u := range v.Objects {
		r := health.RefOf(u)
		if u.GetDeletionTimestamp() == nil || v.age(u.GetDeletionTimestamp().Time) < patience(r) {
			continue
		}
		f := Finding{ID: "deletion-stuck", Object: r, Severity: Warning, Certain: true,
			Cause: fmt.Sprintf("%s is being deleted for %s", r, v.age(u.GetDeletionTimestamp().Time).Round(
				time.Second)),
			Message: health.WhyDeleting(u), Remedy: "See that what removes its finalizers runs, and what it says."}
		switch finalizers := u.GetFinalizers(); {
		case r.Kind == "Namespace":
			f.ID, f.Message = "namespace-stuck", namespaceWaits(u)
			f.Cause += orWord(f.Message, ", and waits for its content")
			f.Remedy = "Remove what is left in it: where its finalizer's controller is gone for good, take the " +
				"finalizer away; where an API does not answer, see kubectl get apiservices."
		case len(finalizers) > 0:
			f.Cause += ": the finalizer " + finalizers[0] + " is there, which " + finalizerOwner(finalizers[0]) +
				" removes"
		case r.Kind == "Pod":
			f.Cause += ": its node has not said that it has ended"
			f.Remedy = fmt.Sprintf("See the kubelet of node %s; where the machine is gone: kubectl -n %s delete pod "+
				"%s --force", text(u, "spec", "nodeName"), r.Namespace, r.Name)
		}
		found = append(found, f)
	}
	return found
}

func orWord(message, otherwise string) string {
	if message == "" {
		return otherwise
	}
	return ": " + message
}

func finalizerOwner(finalizer string) string {
	for _, known := range finalizerOwners {
		if strings.Contains(finalizer, known.part) {
			return known.owner
		}
	}
	return "whoever set it"
}

// namespaceWaits is what the conditions of a namespace say that it waits for.
func namespaceWaits(u *unstructured.Unstructured) string {
	var parts []string
	for _, c := range health.Conditions(u) {
		if c.Status == "True" && strings.HasPrefix(c.Type, "Namespace") {
			parts = append(parts, c.Message)
		}
	}
	return joined(parts...)
}

// judgeClaims finds claims for volumes that nobody can serve.
func judgeClaims(v *view) []Finding {
	if !v.listed("storage.k8s.io", "StorageClass") {
		return nil
	}
	hasDefault := false
	for _, class := range v.list("storage.k8s.io", "StorageClass") {
		hasDefault = hasDefault || class.GetAnnotations()["storageclass.kubernetes.io/is-default-class"] == "true"
	}
	var found []Finding
	for _, claim := range v.list("", "PersistentVolumeClaim") {
		class, named, _ := unstructured.NestedString(claim.Object, "spec", "storageClassName")
		waits := text(claim, "status", "phase") == "Pending" && text(claim, "spec", "volumeName") == "" &&
			v.age(claim.GetCreationTimestamp().Time) > startTime
		switch r := health.RefOf(claim); {
		case !waits || !v.installed[claim.GetNamespace()]:
		case !named && !hasDefault:
			found = append(found, Finding{ID: "storage-class-missing", Object: r, Severity: Blocking, Certain: true,
				Cause: fmt.Sprintf("%s names no storage class, and none is the default", r),
				Remedy: "Make one the default: kubectl annotate storageclass NAME " +
					"storageclass.kubernetes.io/is-default-class=true"})
		case class != "" && v.absent(health.Ref{Group: "storage.k8s.io", Kind: "StorageClass", Name: class}):
			found = append(found, Finding{ID: "storage-class-missing", Object: r, Severity: Blocking, Certain: true,
				Cause:  fmt.Sprintf("the storage class %s of %s does not exist", class, r),
				Remedy: "Make it, or name one of: kubectl get storageclasses"})
		}
	}
	return found
}
