// Package kind creates and deletes the temporary bootstrap cluster with sigs.k8s.io/kind as a library.
package kind

import (
	"cmp"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
)

// Labels of kind on the containers of a cluster's nodes, which Cluster API's provider for Docker uses for its machines
// too.
const (
	ClusterLabel = "io.x-k8s.kind.cluster" // the cluster's name
	RoleLabel    = "io.x-k8s.kind.role"    // control-plane, worker or LoadBalancerRole

	LoadBalancerRole = "external-load-balancer"
)

// DefaultNodeImage is the node image that the kind release in go.mod publishes for the newest Kubernetes minor that
// Cluster API, Flux and cert-manager of this release support. kind's own default is newer. See
// docs/reference/versions.md.
const DefaultNodeImage = "kindest/node:v1.36.4@sha256:099e049362a1526b2db71494e1947aae99bd16290d7c895f2b7ea312e3cbfaed"

// CreationBound is the time after which an unfinished node counts as left behind: kind needs less to create a cluster.
const CreationBound = 10 * time.Minute

// Config describes the bootstrap cluster.
type Config struct {
	Name             string   // of the kind cluster
	Markers          []string // paths in the node at which an empty file is mounted, see package owned
	NodeImage        string   // empty: DefaultNodeImage
	DockerSocket     string   // path on the Docker host that the infrastructure provider mounts; empty: none
	APIServerAddress string   // empty: kind's default, loopback
	APIServerPort    int32    // 0: any free port
	ExtraMounts      []Mount
	Proxies          Proxies // for the node only; those of this process do not apply
}

// Mount is a bind mount from the Docker host into the node.
type Mount struct{ HostPath, ContainerPath string }

// kubelet from 1.35 on refuses to start on cgroup v1 hosts by default. On v2 hosts this changes nothing.
const allowCgroupV1 = `kind: KubeletConfiguration
apiVersion: kubelet.config.k8s.io/v1beta1
failCgroupV1: false
`

// certsDirectory makes containerd read registry mirrors from files, which can be written into a running node.
const certsDirectory = `[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "/etc/containerd/certs.d"
`

func (c Config) cluster() *v1alpha4.Cluster {
	image := cmp.Or(c.NodeImage, DefaultNodeImage)
	var mounts []v1alpha4.Mount
	for _, marker := range c.Markers {
		mounts = append(mounts, v1alpha4.Mount{HostPath: "/dev/null", ContainerPath: marker, Readonly: true})
	}
	if c.DockerSocket != "" {
		mounts = append(mounts, v1alpha4.Mount{HostPath: c.DockerSocket, ContainerPath: "/var/run/docker.sock"})
	}
	for _, m := range c.ExtraMounts {
		mounts = append(mounts, v1alpha4.Mount{HostPath: m.HostPath, ContainerPath: m.ContainerPath})
	}
	return &v1alpha4.Cluster{
		TypeMeta: v1alpha4.TypeMeta{Kind: "Cluster", APIVersion: "kind.x-k8s.io/v1alpha4"},
		Name:     c.Name,
		Nodes:    []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole, Image: image, ExtraMounts: mounts}},
		Networking: v1alpha4.Networking{APIServerAddress: c.APIServerAddress,
			APIServerPort: c.APIServerPort},
		KubeadmConfigPatches:    []string{allowCgroupV1},
		ContainerdConfigPatches: []string{certsDirectory},
	}
}
