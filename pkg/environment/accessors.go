package environment

import (
	"strings"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Spec returns what the environment requests of the management cluster. It is read-only.
func (e *Environment) Spec() Spec { return e.spec }

// ClusterName is the name of the management cluster's Cluster API Cluster.
func (e *Environment) ClusterName() string { return e.spec.Cluster.Name }

// ClusterNamespace is the namespace of its Cluster API objects.
func (e *Environment) ClusterNamespace() string { return e.spec.Cluster.Namespace }

// KubernetesVersion is the version of the management cluster's machines, with its v, and for RKE2 with its +rke2rN.
func (e *Environment) KubernetesVersion() string { return e.spec.Cluster.KubernetesVersion }

// BackupRecipients are the public keys for backups on a schedule; none if the management cluster makes none. The chart
// has checked their form only.
func (e *Environment) BackupRecipients() []string {
	if e.workload || !e.enabled(Management, owned.BackupComponent) {
		return nil
	}
	return e.spec.Cluster.Backup.Recipients
}

// ChartVersion is the version of the chart that the environment was checked with.
func (e *Environment) ChartVersion() string { return e.chart.Version() }

// InfraProvider is the provider that makes machines: capd, capo or capa; also the name of its component.
func (e *Environment) InfraProvider() string { return e.spec.Cluster.InfraProvider }

// NodeImage is the image of the machines. It follows the chart's template telco-cloud-init.nodeImage.
func (c Cluster) NodeImage() string {
	if c.RKE2.Image != "" && c.BootstrapProvider == "rke2" {
		return c.RKE2.Image
	}
	if c.Image != "" {
		return c.Image
	}
	version, _, _ := strings.Cut(c.KubernetesVersion, "+") // RKE2 adds its own release
	image := "kindest/node:" + version
	if digest, known := c.NodeImageDigests[version]; known {
		image += "@" + digest
	}
	return image
}

// DockerSocket is the path on the host of the socket that goes into the machines. It follows the chart's template
// telco-cloud-init.dockerSocket.
func (c Cluster) DockerSocket() string {
	if c.Socket != "" {
		return c.Socket
	}
	if socket, ok := strings.CutPrefix(c.DockerHost, "unix://"); ok && socket != "" {
		return socket
	}
	return "/var/run/docker.sock"
}

// BootstrapDockerSocket is the path on the host of the socket that the bootstrap cluster's node needs; empty if no
// provider there uses the Docker engine.
func (e *Environment) BootstrapDockerSocket() (string, error) {
	needs, err := e.renderTemplate(Bootstrap, "needsDockerSocket")
	if err != nil || needs == "" {
		return "", err
	}
	return e.spec.Cluster.DockerSocket(), nil
}

// SecretDocuments returns copies of the values of the environment's two Secrets, so that callers can redact them.
func (e *Environment) SecretDocuments() []map[string]any {
	return []map[string]any{copyMap(e.effective.secrets), copyMap(e.effective.infraSecrets)}
}
