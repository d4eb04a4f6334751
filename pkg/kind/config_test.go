package kind

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/yaml"
)

func TestConfigMountsIntoTheNode(t *testing.T) {
	marker := v1alpha4.Mount{HostPath: "/dev/null", ContainerPath: "/etc/cluster-init.io/cluster/demo", Readonly: true}
	socket := v1alpha4.Mount{HostPath: "/run/user/1000/docker.sock", ContainerPath: "/var/run/docker.sock"}
	tests := map[string]struct {
		config Config
		want   []v1alpha4.Mount
	}{
		"the marker alone": {Config{Markers: []string{"/etc/cluster-init.io/cluster/demo"}},
			[]v1alpha4.Mount{marker}},
		"the engine's socket": {Config{Markers: []string{"/etc/cluster-init.io/cluster/demo"},
			DockerSocket: socket.HostPath}, []v1alpha4.Mount{marker, socket}},
		"further mounts": {
			Config{Markers: []string{"/etc/cluster-init.io/cluster/demo"},
				ExtraMounts: []Mount{{HostPath: "/srv/certs", ContainerPath: "/etc/ssl/extra"}}},
			[]v1alpha4.Mount{marker, {HostPath: "/srv/certs", ContainerPath: "/etc/ssl/extra"}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			nodes := tc.config.cluster().Nodes
			if len(nodes) != 1 || nodes[0].Role != v1alpha4.ControlPlaneRole {
				t.Fatalf("nodes %+v, want one control plane", nodes)
			}
			if !slices.Equal(nodes[0].ExtraMounts, tc.want) {
				t.Errorf("mounts %+v\nwant   %+v", nodes[0].ExtraMounts, tc.want)
			}
		})
	}
}

func TestConfigTakesOverWhatItIsGiven(t *testing.T) {
	c := Config{Name: "demo-bootstrap", NodeImage: "kindest/node:v1", APIServerAddress: "192.0.2.1",
		APIServerPort: 6443}.cluster()
	if c.Name != "demo-bootstrap" || c.Nodes[0].Image != "kindest/node:v1" ||
		c.Networking.APIServerAddress != "192.0.2.1" || c.Networking.APIServerPort != 6443 {
		t.Errorf("got %+v", c)
	}
	if c.Kind != "Cluster" || c.APIVersion != "kind.x-k8s.io/v1alpha4" {
		t.Errorf("type %s %s: kind would refuse it", c.APIVersion, c.Kind)
	}
}

// kind takes only patches that are YAML of a known kubeadm document, and TOML of containerd.
func TestConfigPatches(t *testing.T) {
	c := Config{Name: "demo-bootstrap"}.cluster()
	if len(c.KubeadmConfigPatches) != 1 || len(c.ContainerdConfigPatches) != 1 {
		t.Fatalf("patches %q %q", c.KubeadmConfigPatches, c.ContainerdConfigPatches)
	}
	var kubelet map[string]any
	if err := yaml.UnmarshalStrict([]byte(c.KubeadmConfigPatches[0]), &kubelet); err != nil {
		t.Fatal(err)
	}
	if kubelet["kind"] != "KubeletConfiguration" || kubelet["apiVersion"] != "kubelet.config.k8s.io/v1beta1" ||
		kubelet["failCgroupV1"] != false {
		t.Errorf("kubelet %v: it would not start on a cgroup v1 host", kubelet)
	}
	if containerd := c.ContainerdConfigPatches[0]; !strings.Contains(containerd,
		`config_path = "/etc/containerd/certs.d"`) {
		t.Errorf("containerd reads no mirrors: %s", containerd)
	}
}

func TestNodeNameIsKindsOwn(t *testing.T) {
	if got := NodeName("demo-bootstrap"); got != "demo-bootstrap-control-plane" {
		t.Errorf("node %q", got)
	}
}
