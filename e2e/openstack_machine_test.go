//go:build e2e

package e2e

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	"sigs.k8s.io/cluster-api/util/certs"
	kubeconfigs "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

const (
	// serverLabel is what the lab's hypervisor labels the container of a server with.
	serverLabel = "cluster-init.io/openstack-server"
	// joinToken is the token of one cluster in a test that is deleted with it.
	joinToken = "abcdef.0123456789abcdef"
)

// TestMatrixOpenStackMachine boots servers of a real OpenStack with the user-data that Cluster API writes: the lab's
// hypervisor makes machines of them, the first becomes a control plane that is reached through its floating address,
// the second joins it, and they go when their servers go. It wants a cloud with the hypervisor running: `go run
// ./e2e/lab openstack start`, and OS_CLIENT_CONFIG_FILE.
func TestMatrixOpenStackMachine(t *testing.T) {
	l := newLab(t)
	b := l.openBundle(t)
	site := newSite(t)
	authority := newAuthority(t)

	server := site.boot(t, "machine-control-plane", authority.controlPlane(t, b.Index.KubernetesVersion, site.floating))
	site.associate(t, server)
	c := authority.connect(t, site.floating)
	eventually(t, "the API server answers at "+site.floating, 5*time.Minute,
		func(ctx context.Context) bool { return c.Reachable(ctx) == nil })
	applyNetwork(t, c)
	nodeIsReady(t, c, server)

	worker := site.boot(t, "machine-worker", authority.worker(t, site.floating))
	nodeIsReady(t, c, worker)

	t.Run("the API server is reached from other networks, the server included", func(t *testing.T) {
		for _, from := range []string{container(t, server), container(t, worker)} {
			inContainer(t, from, "curl", "--silent", "--insecure", "--max-time", "10", "--fail",
				"https://"+site.floating+":6443/readyz")
		}
	})
	t.Run("secrets are the superuser's only", func(t *testing.T) {
		if open := inContainer(t, container(t, server), "find", "/var/lib/cloud/seed/config_drive", "-perm",
			"/077"); open != "" {
			t.Errorf("others may read %s", open)
		}
	})
	t.Run("cloud-init has no complaint", func(t *testing.T) {
		inContainer(t, container(t, server), "cloud-init", "status", "--wait")
	})
	t.Run("containers go with their servers", func(t *testing.T) {
		for _, one := range []machine{worker, server} {
			site.remove(t, one)
			eventually(t, "the container of "+one.name+" is gone", time.Minute, func(context.Context) bool {
				return len(containers(t, serverLabel+"="+one.id)) == 0
			})
		}
	})
}

// container returns the name of a server's container.
func container(t *testing.T, server machine) string {
	t.Helper()
	found := containers(t, serverLabel+"="+server.id)
	if len(found) != 1 {
		t.Fatalf("server %s has the containers %v", server.name, found)
	}
	return found[0]
}

// nodeIsReady waits until the server's node is ready, under the server's name and identifier and at its address.
func nodeIsReady(t *testing.T, c *kube.Cluster, server machine) {
	t.Helper()
	var node corev1.Node
	eventually(t, "node "+server.name+" is ready", 5*time.Minute, func(ctx context.Context) bool {
		var nodes corev1.NodeList
		if c.List(ctx, &nodes) != nil {
			return false
		}
		i := slices.IndexFunc(nodes.Items, func(n corev1.Node) bool { return n.Name == server.name })
		if i < 0 {
			return false
		}
		node = nodes.Items[i]
		return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
	})
	if want := "openstack:///" + server.id; node.Spec.ProviderID != want {
		t.Errorf("node %s has the identifier %q, want %q", node.Name, node.Spec.ProviderID, want)
	}
	if !slices.Contains(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP,
		Address: server.address}) {
		t.Errorf("node %s has the addresses %v, want %s among them", node.Name, node.Status.Addresses, server.address)
	}
}

// applyNetwork gives a cluster the lab's pod network.
func applyNetwork(t *testing.T, c *kube.Cluster) {
	t.Helper()
	content, err := os.ReadFile("lab/profile/kustomize-components/lab-cni/lab-cni.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents(string(content)) {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			t.Fatal(err)
		}
		if err := c.ApplyAll(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// connect makes a client of an API server that need not answer yet.
func (a authority) connect(t *testing.T, address string) *kube.Cluster {
	t.Helper()
	key, err := certs.DecodePrivateKeyPEM(a.GetByPurpose(secret.ClusterCA).KeyPair.Key)
	if err != nil {
		t.Fatal(err)
	}
	config, err := kubeconfigs.New("machine", "https://"+address+":6443", a.certificate(t), key)
	if err != nil {
		t.Fatal(err)
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect("machine", content, clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// registration is what Cluster API's provider for OpenStack has its users write for each node, but for the external
// cloud provider: without a cloud controller manager, nodes would have no addresses.
const registration = `nodeRegistration:
  name: '{{ local_hostname }}'
  kubeletExtraArgs:
    - name: provider-id
      value: openstack:///{{ instance_id }}
`

// controlPlane is the user-data of the first machine.
func (a authority) controlPlane(t *testing.T, version, address string) []byte {
	t.Helper()
	data, err := cloudinit.NewInitControlPlane(&cloudinit.ControlPlaneInput{
		Certificates: a.Certificates,
		ClusterConfiguration: fmt.Sprintf(`apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
clusterName: machine
controlPlaneEndpoint: %s:6443
kubernetesVersion: %s
networking:
  podSubnet: 10.244.0.0/16
`, address, version),
		InitConfiguration: "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens:\n  - token: " + joinToken + "\n" + registration,
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// worker is the user-data of a machine that joins.
func (a authority) worker(t *testing.T, address string) []byte {
	t.Helper()
	sum := sha256.Sum256(a.certificate(t).RawSubjectPublicKeyInfo)
	data, err := cloudinit.NewNode(&cloudinit.NodeInput{JoinConfiguration: fmt.Sprintf(
		`apiVersion: kubeadm.k8s.io/v1beta4
kind: JoinConfiguration
discovery:
  bootstrapToken:
    apiServerEndpoint: %s:6443
    token: %s
    caCertHashes: ["sha256:%s"]
`, address, joinToken, hex.EncodeToString(sum[:])) + registration})
	if err != nil {
		t.Fatal(err)
	}
	return data
}
