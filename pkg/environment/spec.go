package environment

import (
	"encoding/json"
	"strconv"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Spec is what an environment requests of the management cluster, as far as the code needs it, for any infrastructure
// provider. The chart's values.yaml documents each value.
type Spec struct {
	Cluster Cluster `json:"cluster"`
	// Proxies are the user's, normalized. NoProxy here is not the whole list: see Environment.NoProxy.
	Proxies Proxies `json:"proxies"`
	// Flux are restrictions of its controllers, in addition to those for the source.
	Flux struct {
		NoRemoteBases        bool `json:"no_remote_bases"`
		NoCrossNamespaceRefs bool `json:"no_cross_namespace_refs"`
	} `json:"flux"`
}

// Cluster is the management cluster's own definition.
type Cluster struct {
	Name      string `json:"name"`      // of the Cluster API Cluster
	Namespace string `json:"namespace"` // of the Cluster API objects
	// KubernetesVersion is that of the machines, with its v, and for RKE2 with its +rke2rN.
	KubernetesVersion string `json:"kubernetes_version"`
	// BootstrapProvider turns machines into nodes: kubeadm or rke2.
	BootstrapProvider string `json:"bootstrap_provider"`
	// BootstrapFormat is the format of a machine's first configuration: cloud-config or ignition.
	BootstrapFormat string `json:"bootstrap_format"`
	// InfraProvider makes machines: capd, capo or capa; also the name of its component.
	InfraProvider   string           `json:"infra_provider"`
	ControlPlane    Machines         `json:"control_plane"`
	Worker          Pool             `json:"worker"`  // the pool `workers`
	Workers         map[string]Pool  `json:"workers"` // further pools by name
	PodCIDR         string           `json:"pod_cidr"`
	ServiceCIDR     string           `json:"service_cidr"`
	RegistryMirrors []RegistryMirror `json:"registry_mirrors"`

	// SecurityProfile is default, cis or stig.
	SecurityProfile string `json:"security_profile"`

	Machineadm Machineadm `json:"machineadm"`
	// KubernetesSource is image, or boot for machines that install Kubernetes when they boot.
	KubernetesSource string `json:"kubernetes_source"`
	// KubernetesMirror is where such machines find the files by digest. Empty means at their URLs.
	KubernetesMirror string `json:"kubernetes_mirror"`

	Kubernetes  Kubernetes  `json:"kubernetes"`
	Authorities Authorities `json:"certificate_authorities"`

	// TrustedCAs are certificates (PEM) that machines trust in addition to those of their image.
	TrustedCAs string `json:"trusted_cas"`

	// Backup is what the component backup does.
	Backup struct {
		Recipients []string `json:"recipients"`
	} `json:"backup"`

	Image            string            `json:"image"`
	NodeImageDigests map[string]string `json:"node_image_digests"`
	Socket           string            `json:"docker_socket"`
	DockerHost       string            `json:"docker_host"`
	RKE2             struct {
		Image string `json:"image"`
	} `json:"rke2"`
}

// Machines of one role.
type Machines struct {
	Replicas int `json:"replicas"`
}

// Pool is a pool of workers.
type Pool struct {
	// Replicas is the number of machines; nil leaves it to an autoscaler.
	Replicas *int `json:"replicas"`
	// Annotations of the MachineDeployment. An autoscaler reads its bounds from them.
	Annotations map[string]string `json:"annotations"`
	// Flavor is empty for the provider's own value for workers.
	Flavor string `json:"flavor"`
}

// Count returns how many machines the pool begins with. Where an autoscaler has the number, Cluster API begins with the
// minimum that the annotations name, or with one.
func (p Pool) Count() int {
	if p.Replicas != nil {
		return *p.Replicas
	}
	if least, err := strconv.Atoi(p.Annotations[clusterv1.AutoscalerMinSizeAnnotation]); err == nil && p.bounded() {
		return least
	}
	return 1
}

// bounded reports whether the pool has both bounds of an autoscaler. Without them Cluster API sets the number to one
// when no number is given any more.
func (p Pool) bounded() bool {
	_, least := p.Annotations[clusterv1.AutoscalerMinSizeAnnotation]
	_, most := p.Annotations[clusterv1.AutoscalerMaxSizeAnnotation]
	return least && most
}

// WorkerCount returns how many machines all pools of workers begin with.
func (c Cluster) WorkerCount() int {
	count := c.Worker.Count()
	for _, pool := range c.Workers {
		count += pool.Count()
	}
	return count
}

// RegistryMirror is a registry that machines pull from instead of another.
type RegistryMirror struct {
	Host         string `json:"host"` // the registry in image references, or _default
	URL          string `json:"url"`
	OverridePath bool   `json:"override_path"` // URL is the API's whole root
	SkipVerify   bool   `json:"skip_verify"`
	CA           string `json:"ca"`   // certificates (PEM) that may sign the mirror's
	Only         bool   `json:"only"` // the original registry is never used
}

// Proxies are addresses, empty where there is no proxy.
type Proxies struct {
	HTTP    string `json:"http_proxy"`
	HTTPS   string `json:"https_proxy"`
	NoProxy string `json:"no_proxy"`
}

// decode reads values into a T. Unknown values and values of the wrong type are empty: validate reports them.
func decode[T any](values map[string]any) T {
	var typed T
	if encoded, err := json.Marshal(known(values)); err == nil {
		_ = json.Unmarshal(encoded, &typed) // it skips values of the wrong type
	}
	return typed
}

// known returns a copy of values with nil in place of unknown ones.
func known(values any) any {
	switch typed := values.(type) {
	case map[string]any:
		out := make(map[string]any, len(typed))
		for key, value := range typed {
			out[key] = known(value)
		}
		return out
	case []any:
		var out []any // an empty list becomes nil
		for _, value := range typed {
			out = append(out, known(value))
		}
		return out
	case string:
		if strings.Contains(typed, unknownValue) {
			return nil
		}
	}
	return values
}
