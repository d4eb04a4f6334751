package backup

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// WorkloadCluster is a cluster that the management cluster of a backup managed besides itself.
type WorkloadCluster struct {
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// ManagedBy is that management cluster, as namespace/name.
	ManagedBy string `json:"managedBy"`
	// Release reports whether the section Workload has the release of cluster-init that made it.
	Release bool `json:"release,omitempty"`
}

// String returns the cluster as namespace/name.
func (w WorkloadCluster) String() string { return w.Namespace + "/" + w.Cluster }

// Self returns the management cluster that the backup is of, as namespace/name.
func (m Manifest) Self() string { return m.Namespace + "/" + m.Cluster }

// Namespaces returns the namespaces of all clusters in the backup, each once, that of the management cluster first.
func (m Manifest) Namespaces() []string {
	all := []string{m.Namespace}
	for _, w := range m.Workloads {
		if !slices.Contains(all, w.Namespace) {
			all = append(all, w.Namespace)
		}
	}
	return all
}

// ReservedNamespace reports whether a namespace belongs to Kubernetes or Flux. A restore creates nothing of a workload
// cluster there: a forged backup could change what they do.
func ReservedNamespace(namespace string) bool {
	return strings.HasPrefix(namespace, "kube-") || namespace == "flux-system"
}

func (m Manifest) checkWorkloads() error {
	seen := map[string]bool{m.Self(): true}
	for _, w := range m.Workloads {
		switch {
		case len(validation.IsDNS1123Label(w.Namespace)) > 0:
			return errors.New("the namespace of a workload cluster is not a valid name")
		case len(validation.IsDNS1123Subdomain(w.Cluster)) > 0:
			return errors.New("a workload cluster has not a valid name")
		case ReservedNamespace(w.Namespace):
			return fmt.Errorf("it lists cluster %s, and that namespace belongs to Kubernetes or Flux", w)
		case seen[w.String()]:
			return fmt.Errorf("it lists cluster %s twice", w)
		case w.ManagedBy != m.Self():
			return fmt.Errorf("it says that another management cluster than %s managed %s", m.Self(), w)
		}
		seen[w.String()] = true
	}
	return nil
}

// format returns the format of a backup with this manifest.
func (m Manifest) format() int {
	switch {
	case m.Etcd != nil:
		return Format
	case len(m.Workloads) > 0:
		return 2
	}
	return 1
}
