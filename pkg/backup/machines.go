package backup

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Machines is what the objects of a backup say about the machines of the management cluster at that time.
type Machines struct {
	// Infrastructure is the kind of the object that describes the cluster's infrastructure, such as OpenStackCluster.
	Infrastructure string
	// Endpoint is the host of the API server.
	Endpoint string
	// ControlPlanes and Workers are the names of the infrastructure's machines.
	ControlPlanes, Workers []string
}

// Machines reads the objects of the management cluster. A backup without its Cluster is an error.
func (b *Backup) Machines() (Machines, error) {
	var found Machines
	for _, u := range b.Section(Objects) {
		if u.GroupVersionKind().Group != clusterv1.GroupVersion.Group || u.GetNamespace() != b.Manifest.Namespace {
			continue
		}
		switch cluster, _, _ := unstructured.NestedString(u.Object, "spec", "clusterName"); {
		case u.GetKind() == "Cluster" && u.GetName() == b.Manifest.Cluster:
			found.Infrastructure = infrastructureOf(u, "kind")
			found.Endpoint, _, _ = unstructured.NestedString(u.Object, "spec", "controlPlaneEndpoint", "host")
		case u.GetKind() == "Machine" && cluster == b.Manifest.Cluster:
			name := cmp.Or(infrastructureOf(u, "name"), u.GetName())
			if _, is := u.GetLabels()[clusterv1.MachineControlPlaneLabel]; is {
				found.ControlPlanes = append(found.ControlPlanes, name)
			} else {
				found.Workers = append(found.Workers, name)
			}
		}
	}
	if found.Infrastructure == "" {
		return found, fmt.Errorf("it has no Cluster %s/%s with an infrastructure", b.Manifest.Namespace,
			b.Manifest.Cluster)
	}
	return found, nil
}

func infrastructureOf(u *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedString(u.Object, "spec", "infrastructureRef", field)
	return value
}
