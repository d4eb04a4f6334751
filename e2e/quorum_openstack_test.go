//go:build e2e

package e2e

import (
	"context"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// TestMatrixQuorumOpenStack loses two of three control-plane servers, one of them with the floating IP of the API
// server. While their servers exist, nothing is restored. Then the machine that is left gets the address, and the
// snapshot through the real ssh: see sshTo for what answers it. Cluster API replaces the lost machines, and cleanup
// leaves the project as it was.
func TestMatrixQuorumOpenStack(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	before := project.inventory(t)
	l, _, from := l.fromRepository(t)
	up := append([]string{"up", l.name, "--bundle", l.bundle, "--set", "cluster.control_plane.replicas=3"}, from...)
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	management.note(t, "before")
	path, key := l.backupEtcd(t)
	management.note(t, "after")

	lost, holder := project.names(t, openstack.KindServer), project.addressHolder(t)
	survivor := lost[slices.IndexFunc(lost, func(name string) bool { return name != holder })]
	lost = slices.DeleteFunc(lost, func(name string) bool { return name == survivor })
	machine := project.container(t, survivor)
	folder, address := sshTo(t, machine)
	l.environment = append(slices.Clone(l.environment), "PATH="+folder+":"+os.Getenv("PATH"))
	bare := []string{"restore", path, "--etcd", "--identity", key, "--force", l.name}
	restore := append(slices.Clone(bare), "--ssh", address)
	for code, args := range map[int][]string{2: bare, 64: restore} { // without --ssh, and while the API server is ready
		if got, _ := l.run(t, args...); got != code {
			t.Errorf("%v ended with %d, want %d", args, got, code)
		}
	}
	for _, server := range lost {
		project.shutOff(t, server)
	}
	// the lab stops and removes machines a moment after nova says so
	eventually(t, "only one machine runs", 3*time.Minute, func(context.Context) bool {
		return docker(t, "ps", "--format", "{{.Names}}", "--filter", "label="+serverLabel) == machine
	})
	l.refusesToRestore(t, restore, "the snapshot is for one")
	for _, server := range lost {
		_, err := project.Delete(t.Context(), project.server(t, server))
		must(t, err)
	}
	eventually(t, "only one server and its machine exist", 3*time.Minute, func(context.Context) bool {
		return slices.Equal(project.names(t, openstack.KindServer), []string{survivor}) &&
			slices.Equal(containers(t, serverLabel), []string{machine})
	})
	l.restoresEtcd(t, restore, survivor)
	if !management.noted(t, "before") || management.noted(t, "after") {
		t.Error("the API server has not what the snapshot has")
	}
	for _, gone := range append(management.list(t, "", "v1", "Node"),
		management.list(t, "cluster.x-k8s.io", "v1beta2", "Machine")...) {
		if gone.GetName() != survivor {
			must(t, management.Delete(t.Context(), &gone))
		}
	}
	eventually(t, "three control-plane machines again", 20*time.Minute, func(ctx context.Context) bool {
		return len(management.readyMachines(ctx)) == 3
	})
	if code, _ := l.run(t, "cleanup", l.name, "--force", l.name, "--yes"); code != 0 {
		t.Errorf("cleanup --yes ended with %d", code)
	}
	if after := project.inventory(t); !maps.Equal(after, before) {
		t.Errorf("the project has %v, had %v", after, before)
	}
}
