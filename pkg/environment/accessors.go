package environment

import "strings"

// Proxies are the user's proxies, empty where there is none.
type Proxies struct {
	HTTP, HTTPS, NoProxy string
}

// ClusterName is the name of the management cluster's Cluster API Cluster.
func (e *Environment) ClusterName() string { return e.text("cluster.name") }

// ClusterNamespace is the namespace of its Cluster API objects.
func (e *Environment) ClusterNamespace() string { return e.text("cluster.namespace") }

// KubernetesVersion is that of the management cluster's machines, with its v, and for RKE2 with its +rke2rN.
func (e *Environment) KubernetesVersion() string { return e.text("cluster.kubernetes_version") }

// InfraProvider makes machines: capd, capo or capa; also the name of its component.
func (e *Environment) InfraProvider() string { return e.text("cluster.infra_provider") }

// BootstrapProvider turns machines into nodes: kubeadm or rke2.
func (e *Environment) BootstrapProvider() string { return e.text("cluster.bootstrap_provider") }

// ControlPlaneReplicas is how many control plane machines the management cluster has.
func (e *Environment) ControlPlaneReplicas() int { return e.number("cluster.control_plane.replicas") }

// WorkerReplicas is how many worker machines the management cluster has.
func (e *Environment) WorkerReplicas() int { return e.number("cluster.worker.replicas") }

// NodeImage is the image of the machines. It follows the chart's template telco-cloud-init.nodeImage.
func (e *Environment) NodeImage() string {
	if image := e.text("cluster.rke2.image"); image != "" && e.BootstrapProvider() == "rke2" {
		return image
	}
	if image := e.text("cluster.image"); image != "" {
		return image
	}
	version, _, _ := strings.Cut(e.KubernetesVersion(), "+") // RKE2 adds its own release
	image := "kindest/node:" + version
	digests, _ := e.path("cluster.node_image_digests").(map[string]any)
	if digest, known := digests[version].(string); known {
		image += "@" + digest
	}
	return image
}

// DockerSocket is the path on the host of the socket that goes into the machines. It follows the chart's template
// telco-cloud-init.dockerSocket.
func (e *Environment) DockerSocket() string {
	if socket := e.text("cluster.docker_socket"); socket != "" {
		return socket
	}
	if socket, ok := strings.CutPrefix(e.text("cluster.docker_host"), "unix://"); ok && socket != "" {
		return socket
	}
	return "/var/run/docker.sock"
}

// Proxies returns the proxies as the user gave them, without the additions that the chart makes to no_proxy.
func (e *Environment) Proxies() Proxies {
	return Proxies{HTTP: e.text("proxies.http_proxy"), HTTPS: e.text("proxies.https_proxy"), NoProxy: e.text("proxies.no_proxy")}
}

// RegistryMirrors returns the registry mirrors of the machines, in the form of the chart's value cluster.registry_mirrors.
func (e *Environment) RegistryMirrors() []map[string]any {
	list, _ := e.path("cluster.registry_mirrors").([]any)
	var mirrors []map[string]any
	for _, each := range list {
		if mirror, isMap := each.(map[string]any); isMap {
			mirrors = append(mirrors, copyMap(mirror))
		}
	}
	return mirrors
}

// SecretDocuments returns the values of the environment's two Secrets, so that whoever writes for other eyes knows what
// to leave out.
func (e *Environment) SecretDocuments() []map[string]any {
	return []map[string]any{copyMap(e.effective.secrets), copyMap(e.effective.infraSecrets)}
}

// path returns the management value at a dotted path. The schema was checked, so it is there and of its type.
func (e *Environment) path(dotted string) any {
	value, _ := at(e.settled[Management], dotted)
	return value
}

func (e *Environment) text(dotted string) string {
	text, _ := e.path(dotted).(string)
	if strings.Contains(text, unknownValue) {
		return ""
	}
	return text
}

func (e *Environment) number(dotted string) int {
	switch n := e.path(dotted).(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	case int:
		return n
	}
	return 0
}

// texts returns a list of strings, nil when it is empty.
func (e *Environment) texts(dotted string) []string {
	list, _ := e.path(dotted).([]any)
	var texts []string
	for _, each := range list {
		if text, isText := each.(string); isText {
			texts = append(texts, text)
		}
	}
	return texts
}

func (e *Environment) flag(dotted string) bool {
	flag, _ := e.path(dotted).(bool)
	return flag
}
