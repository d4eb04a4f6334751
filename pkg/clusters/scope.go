package clusters

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Side is one of the two clusters of a pivot. The client may have any scheme: everything is read unstructured.
type Side struct {
	Client client.Client
	Config *rest.Config // needed by a move only
	// Kubeconfig is the path that hints name in their commands. Empty leaves the option out.
	Kubeconfig string
}

// Scope names a management cluster by its own Cluster, and with it the Cluster API objects of its namespace.
type Scope struct {
	Namespace string // of the Cluster API objects, on both sides
	Cluster   string // name of the management cluster's own Cluster
}

// Identity is what an observer must know of an environment: which clusters to find, and how messages name them.
type Identity struct {
	Scope
	EnvironmentName string
	Argument        string // how a command names the environment, quoted for a shell
	// Secrets are the documents of values that reports leave out.
	Secrets []map[string]any
}

// IdentityOf returns the identity of an environment's management cluster.
func IdentityOf(env *environment.Environment) Identity {
	return Identity{Scope: Scope{Namespace: env.ClusterNamespace(), Cluster: env.ClusterName()},
		EnvironmentName: env.Name(), Argument: env.Argument(), Secrets: env.SecretDocuments()}
}

// Mark is on everything that a move of this scope has paused, on either side.
func (s Scope) Mark() capi.Mark {
	return capi.Mark{Key: owned.PivotAnnotation, Value: owned.SuspendedFor(s.Namespace, s.Cluster)}
}

// Marks reports whether annotations hold the mark of this scope. The mark of another management cluster does not count.
func (s Scope) Marks(annotations map[string]string) bool {
	mark := s.Mark()
	return annotations[mark.Key] == mark.Value
}

// IsOwnCluster reports whether an object is the management cluster's own Cluster.
func (s Scope) IsOwnCluster(o capi.Object) bool {
	return isCluster(o) && o.Name == s.Cluster && o.Namespace == s.Namespace
}

func isCluster(o capi.Object) bool {
	return o.Kind == clusterv1.ClusterKind && o.Key().Group == clusterv1.GroupVersion.Group
}
