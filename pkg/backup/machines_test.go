package backup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/backup"
)

// Machines are those of the management cluster alone, with the names of its infrastructure.
func TestMachines(t *testing.T) {
	const api = "cluster.x-k8s.io/v1beta2"
	machine := func(name, cluster, infrastructure string, labels map[string]string) *unstructured.Unstructured {
		m := u(api, "Machine", name, map[string]any{"spec": map[string]any{"clusterName": cluster,
			"infrastructureRef": map[string]any{"kind": "OpenStackMachine", "name": infrastructure}}})
		m.SetLabels(labels)
		return m
	}
	label := map[string]string{"cluster.x-k8s.io/control-plane": ""}
	elsewhere := machine("x", "demo", "x", label)
	elsewhere.SetNamespace("team")
	c := content()
	c.Sections[backup.Objects] = []*unstructured.Unstructured{
		u(api, "Cluster", "demo", map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{
			"kind": "OpenStackCluster", "name": "demo"}, "controlPlaneEndpoint": map[string]any{"host": "203.0.113.1",
			"port": int64(6443)}}}),
		u(api, "Cluster", "tenant", map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{
			"kind": "DevCluster", "name": "tenant"}}}),
		machine("demo-a", "demo", "server-a", label), machine("demo-md", "demo", "", nil),
		machine("tenant-a", "tenant", "tenant-a", label), elsewhere,
	}
	b, err := backup.Open(write(t, t.TempDir(), c, backup.Recipients{}), backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := b.Machines()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(backup.Machines{Infrastructure: "OpenStackCluster", Endpoint: "203.0.113.1",
		ControlPlanes: []string{"server-a"}, Workers: []string{"demo-md"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMachinesOfABackupWithoutInfrastructure(t *testing.T) {
	b, err := backup.Open(write(t, t.TempDir(), content(), backup.Recipients{}), backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Machines(); err == nil {
		t.Errorf("%+v", got)
	}
}
