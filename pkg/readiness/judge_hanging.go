package readiness

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// finalizerOwners name who removes a finalizer, by a part of it. The first match counts.
var finalizerOwners = []struct{ part, owner string }{
	{"k-orc.cloud", "the controller of ORC"}, // its finalizers also contain "openstack"
	{"devcluster", "the controller of CAPD"}, {"devmachine", "the controller of CAPD"},
	{"docker", "the controller of CAPD"}, {"openstack", "the controller of CAPO"},
	{"aws", "the controller of CAPA"},
	{"infrastructure.cluster.x-k8s.io", "the infrastructure provider's controller"},
	{"kubeadm.controlplane", "the controller of KubeadmControlPlane"},
	{"rke2.controlplane", "the controller of RKE2ControlPlane"},
	{"cluster.x-k8s.io", "a controller of Cluster API"}, {"fluxcd.io", "the controller of Flux for its kind"},
	{"acme.cert-manager.io", "cert-manager"}, {"cert-manager.io", "cert-manager"},
	{"kubernetes.io/pvc-protection", "kube-controller-manager, once no Pod uses it"},
	{"kubernetes.io/pv-protection", "kube-controller-manager"},
	{"foregroundDeletion", "kube-controller-manager, once what it owns is gone"}, {"orphan", "kube-controller-manager"},
	{"batch.kubernetes.io", "kube-controller-manager"},
}

// patience is how long a deletion may take before it counts as stuck: a cloud server needs minutes, and a Pod specifies
// its own grace period.
func patience(r health.Ref) time.Duration {
	switch {
	case r.Kind == "Pod" || r.Kind == "Namespace":
		return startTime
	case strings.HasSuffix(r.Group, "cluster.x-k8s.io") || strings.HasSuffix(r.Group, "k-orc.cloud"):
		return 15 * time.Minute
	}
	return 2 * time.Minute
}

// judgeHanging finds deletions that take too long.
func judgeHanging(v *view) []Finding {
	var found []Finding
	for _, u := range v.Objects {
		r := health.RefOf(u)
		if u.GetDeletionTimestamp() == nil || v.age(u.GetDeletionTimestamp().Time) < patience(r) {
			continue
		}
		f := Finding{ID: "deletion-stuck", Object: r, Severity: Warning, Certain: true,
			Cause: fmt.Sprintf("%s has been in deletion for %s", r, v.age(u.GetDeletionTimestamp().Time).Round(
				time.Second)),
			Message: health.WhyDeleting(u),
			Remedy:  "Check that the controller that removes its finalizers runs, and read its log."}
		switch finalizers := u.GetFinalizers(); {
		case r.Kind == "Namespace":
			f.ID, f.Message = "namespace-stuck", namespaceWaits(u)
			f.Cause += orWord(f.Message, ", and waits for its content")
			f.Remedy = "Delete what is left in it. If the controller of a finalizer is gone for good, remove the " +
				"finalizer. If an API does not answer, check: kubectl get apiservices."
		case len(finalizers) > 0:
			f.Cause += ": the finalizer " + finalizers[0] + " is still set, which " + finalizerOwner(finalizers[0]) +
				" removes"
		case r.Kind == "Pod":
			f.Cause += ": its node has not reported its end"
			f.Remedy = fmt.Sprintf("Check the kubelet of node %s. If the machine is gone: kubectl -n %s delete pod "+
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

// namespaceWaits returns what a namespace waits for, by its conditions.
func namespaceWaits(u *unstructured.Unstructured) string {
	var parts []string
	for _, c := range health.Conditions(u) {
		if c.Status == "True" && strings.HasPrefix(c.Type, "Namespace") {
			parts = append(parts, c.Message)
		}
	}
	return joined(parts...)
}

// judgeClaims finds claims for volumes that no storage class can provide.
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
				Remedy: "Create it, or use one of: kubectl get storageclasses"})
		}
	}
	return found
}
