//go:build e2e

package e2e

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
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
	folder, address := sshTo(t, project.container(t, survivor))
	l.environment = append(slices.Clone(l.environment), "PATH="+folder+":"+os.Getenv("PATH"))
	bare := []string{"restore", path, "--etcd", "--identity", key, "--force", l.name}
	restore := append(slices.Clone(bare), "--ssh", address)
	for code, args := range map[int][]string{2: bare, 64: restore} { // without --ssh, and while the API server is ready
		if got, _ := l.run(t, args...); got != code {
			t.Errorf("%v ended with %d, want %d", args, got, code)
		}
	}
	var machines []string // the lab stops and removes them a moment after nova says so
	for _, server := range lost {
		machines = append(machines, project.container(t, server))
		project.shutOff(t, server)
	}
	eventually(t, "two machines do not run", 3*time.Minute, func(context.Context) bool {
		return !anyOf(machines, docker(t, "ps", "--format", "{{.Names}}", "--filter", "label="+serverLabel))
	})
	l.refusesToRestore(t, restore, "the snapshot is for one")
	for _, server := range lost {
		_, err := project.Delete(t.Context(), project.server(t, server))
		must(t, err)
	}
	eventually(t, "two machines do not exist", 3*time.Minute, func(context.Context) bool {
		return slices.Equal(project.names(t, openstack.KindServer), []string{survivor}) &&
			!anyOf(machines, strings.Join(containers(t, serverLabel), "\n"))
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

// anyOf reports whether one of the lines is one of the names.
func anyOf(names []string, lines string) bool {
	return slices.ContainsFunc(strings.Fields(lines), func(line string) bool { return slices.Contains(names, line) })
}
