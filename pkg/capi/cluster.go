package capi

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Cluster is the content of a Cluster object.
type Cluster struct {
	Object
	Labels                    map[string]string
	Annotations               map[string]string
	Generation                int64 // counts changes of its spec, including a pause and its deletion
	Phase                     string
	Paused                    bool // by spec.paused or by the annotation
	Deleting                  bool
	InfrastructureProvisioned bool
	ControlPlaneInitialized   bool
	Available                 health.Condition
	ControlPlaneAvailable     health.Condition
	ControlPlane              *ControlPlaneRef // nil when nothing manages the control plane
	ClassNamespace, ClassName string           // of the ClusterClass in use, or ""
	// missing counts are 0; nil if the desired count is missing
	ControlPlaneReplicas *health.Replicas
}

// ControlPlaneRef names the control plane object of a Cluster, in the Cluster's namespace.
type ControlPlaneRef struct {
	schema.GroupKind
	Name string
}

// Clusters returns the Clusters of a namespace, "" for all of them. It returns none if Cluster API is not installed.
func Clusters(ctx context.Context, c client.Reader, namespace string) ([]Cluster, error) {
	docs, err := list[clusterv1.Cluster](ctx, c, clusterKind, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	clusters := make([]Cluster, 0, len(docs))
	for i := range docs {
		clusters = append(clusters, clusterOf(&docs[i]))
	}
	return clusters, nil
}

func clusterOf(doc *clusterv1.Cluster) Cluster {
	_, annotated := doc.Annotations[clusterv1.PausedAnnotation]
	cluster := Cluster{
		Object: Object{
			APIVersion: clusterv1.GroupVersion.String(), Kind: clusterKind.Kind,
			Namespace: doc.Namespace, Name: doc.Name, UID: doc.UID,
		},
		Labels:                    doc.Labels,
		Annotations:               doc.Annotations,
		Generation:                doc.Generation,
		Phase:                     doc.Status.Phase,
		Paused:                    annotated || ptr.Deref(doc.Spec.Paused, false),
		Deleting:                  !doc.DeletionTimestamp.IsZero(),
		InfrastructureProvisioned: ptr.Deref(doc.Status.Initialization.InfrastructureProvisioned, false),
		ControlPlaneInitialized: ptr.Deref(doc.Status.Initialization.ControlPlaneInitialized, false) &&
			health.ConditionFrom(doc.Status.Conditions, clusterv1.ClusterControlPlaneInitializedCondition, 0).True(),
		Available: health.ConditionFrom(doc.Status.Conditions, clusterv1.ClusterAvailableCondition,
			doc.Generation),
		ControlPlaneAvailable: health.ConditionFrom(doc.Status.Conditions,
			clusterv1.ClusterControlPlaneAvailableCondition, doc.Generation),
	}
	if doc.Spec.Topology.IsDefined() {
		cluster.ClassNamespace, cluster.ClassName = doc.GetClassKey().Namespace, doc.GetClassKey().Name
	}
	if ref := doc.Spec.ControlPlaneRef; ref.IsDefined() {
		cluster.ControlPlane = &ControlPlaneRef{
			GroupKind: schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}, Name: ref.Name,
		}
	}
	if s := doc.Status.ControlPlane; s != nil && s.DesiredReplicas != nil {
		count := func(n *int32) int64 { return int64(ptr.Deref(n, 0)) }
		cluster.ControlPlaneReplicas = &health.Replicas{Of: "controlPlane", Desired: count(s.DesiredReplicas),
			Ready: count(s.ReadyReplicas), UpToDate: count(s.UpToDateReplicas), All: count(s.Replicas)}
	}
	return cluster
}

// ControlPlane is the status of a Cluster's control plane object.
type ControlPlane struct {
	Object
	Available health.Condition
	// SpecUpToDate reports whether it has no machine of an older spec. Only RKE2's has this condition.
	SpecUpToDate health.Condition
}

// ReadControlPlane reads the control plane object of a Cluster, of any kind. A provider that does not yet report
// Available (its contract is older than v1beta2) is judged by Ready. The error is a NotFound of apimachinery if the
// object does not exist.
func ReadControlPlane(ctx context.Context, c client.Client, namespace string, ref ControlPlaneRef) (ControlPlane,
	error) {
	mapping, err := c.RESTMapper().RESTMapping(ref.GroupKind)
	if err != nil {
		return ControlPlane{}, fmt.Errorf("find the API of %s: %w", ref.GroupKind, err)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, u); err != nil {
		return ControlPlane{}, fmt.Errorf("get %s %s/%s: %w", ref.Kind, namespace, ref.Name, err)
	}
	available := health.ConditionOf(u, clusterv1.AvailableCondition)
	if available.Reason == health.NotReported {
		if ready := health.ConditionOf(u, clusterv1.ReadyCondition); ready.Reason != health.NotReported {
			available = ready
		}
	}
	return ControlPlane{Object: ObjectOf(u), Available: available, SpecUpToDate: health.ConditionOf(
		u, "MachinesSpecUpToDate")}, nil
}

// Kubeconfig returns the kubeconfig that Cluster API stores for a Cluster, in the Secret <name>-kubeconfig of the
// Cluster's namespace. found is false if there is none. A kubeconfig that kube.Embedded refuses is an error: the author
// of that Secret is not the user of this machine.
func Kubeconfig(ctx context.Context, c client.Reader, cluster client.ObjectKey) (kubeconfig []byte, found bool,
	err error) {
	name := secret.Name(cluster.Name, secret.Kubeconfig)
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(secretKind)
	err = c.Get(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: name}, u)
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("get Secret %s/%s: %w", cluster.Namespace, name, err)
	}
	doc, err := as[struct {
		Data map[string][]byte `json:"data"`
	}](u)
	if err != nil {
		return nil, false, err
	}
	value, ok := doc.Data[secret.KubeconfigDataName]
	if !ok || len(value) == 0 {
		return nil, false, fmt.Errorf("the Secret %s/%s has no key %q", cluster.Namespace, name,
			secret.KubeconfigDataName)
	}
	checked, err := kube.Embedded(value)
	if err != nil {
		return nil, false, fmt.Errorf("the Secret %s/%s: %w", cluster.Namespace, name, err)
	}
	return checked, true, nil
}
