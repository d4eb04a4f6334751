//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openstacklab "github.com/cluster-init/cluster-init/e2e/lab/openstack"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

const openStackName = "kubeadm-capo"

// TestUpOpenStack builds a management cluster on servers of a real OpenStack, has it grow by a commit, and deletes all
// of it.
func TestUpOpenStack(t *testing.T) {
	l, project := openStackLab(t, openStackName, resource.ServerImage)
	before := project.inventory(t)
	management, r := l.upOnOpenStack(t, project)
	servers := project.servers(t, l.name)
	t.Run("a workload cluster is made", func(t *testing.T) {
		l.makesWorkloadOnOpenStack(t, project, 2, "--set", "cluster.worker.replicas=1", "--set", healSet)
	})
	replaced := management.fails(t, project.workerOf(t, workloadName), func(server string) {
		project.shutOff(t, server)
	})
	t.Run("a commit makes another worker", func(t *testing.T) {
		r.replace(t, "kustomize-components/cluster/"+l.name+"/workers.yaml", "${WORKER_REPLICAS:=0}", "2")
		r.push(t, "another worker")
		management.lookAtSource(t)
		eventually(t, "three nodes are ready", 5*time.Minute,
			func(ctx context.Context) bool { return management.readyNodes(ctx) == 3 })
		now := project.servers(t, l.name)
		if len(now) != 3 {
			t.Errorf("the management cluster has the servers %v", now)
		}
		for _, server := range servers {
			if !slices.Contains(now, server) {
				t.Errorf("server %s was replaced", server)
			}
		}
	})
	t.Run("a worker that is SHUTOFF is replaced", replaced)
	t.Run("the workload cluster is deleted", func(t *testing.T) { l.deletesWorkloadOnOpenStack(t) })
	t.Run("a cluster that manages itself is left to itself", func(t *testing.T) {
		if code, _ := l.run(t, "cleanup", l.name, "--yes"); code != 72 {
			t.Errorf("cleanup ended with %d, want 72", code)
		}
		if now := project.servers(t, l.name); len(now) != 3 {
			t.Errorf("the project has the servers %v", now)
		}
	})
	t.Run("cleanup shows and deletes", func(t *testing.T) { l.cleanupOpenStack(t, project, before) })
}

// upOnOpenStack builds a management cluster of two servers, one for each role and in a group each, looks at it, and
// runs `up` once more. It returns the cluster and the repository that the cluster follows. before are runs that come
// first, with the same flags.
func (l lab) upOnOpenStack(t *testing.T, project project, before ...func(t *testing.T, l lab, up []string)) (
	cluster, repository) {
	t.Helper()
	l, r, from := l.fromRepository(t)
	watchArguments(t, project.secret)
	up := append([]string{"up", l.name, "--bundle", l.bundle, "--set", "cluster.worker.replicas=1",
		"--set", "cluster.openstack.server_groups.control_plane=soft-anti-affinity", "--set",
		"cluster.openstack.server_groups.worker=soft-anti-affinity"}, from...)
	for _, first := range before {
		first(t, l, up)
	}
	begun := project.names(t, openstack.KindServer)
	if code, _ := l.run(t, up...); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	management := l.management(t)
	l.built(t, management)
	servers, groups := project.names(t, openstack.KindServer), project.names(t, openstack.KindServerGroup)
	if len(servers) != 2 || len(groups) != 2 {
		t.Errorf("the project has the servers %v and the server groups %v, want one of each sort", servers, groups)
	}
	for _, server := range begun {
		if !slices.Contains(servers, server) {
			t.Errorf("server %s, which the runs before began, is gone: the project has %v", server, servers)
		}
	}
	t.Run("what is needed of OpenStack moved along", func(t *testing.T) { management.holdsOpenStack(t, l.name) })
	t.Run("up again changes nothing", func(t *testing.T) { l.idle(t, management, up) })
	t.Run("another provider is refused", func(t *testing.T) { l.refusesAnotherProvider(t, project, up) })
	t.Run("another machine, which has no kubeconfig, makes no second cluster",
		func(t *testing.T) { l.refusesWithoutState(t, project, up) })
	return management, r
}

// stoppedBesideServers kills `up` once the first server exists, and stops the bootstrap cluster's node, as a reboot of
// this machine does: only that node knows the definition.
func stoppedBesideServers(project project) func(t *testing.T, l lab, up []string) {
	return func(t *testing.T, l lab, up []string) {
		t.Helper()
		killed, code := l.killAt(t, func(e event.Event) bool {
			return e.Type == event.ObjectChanged && e.Object.Kind == "OpenStackMachine" &&
				len(project.names(t, openstack.KindServer)) > 0
		}, up...)
		if !killed {
			t.Fatalf("up ended with %d before a server was seen", code)
		}
		docker(t, "stop", "--time", "5", kind.NodeName(owned.BootstrapCluster(l.name)))
	}
}

// fromRepository makes a repository with the content, and returns it, the lab whose runs may read it, and the flags of
// `up` for it.
func (l lab) fromRepository(t *testing.T) (lab, repository, []string) {
	t.Helper()
	r := newRepository(t, localContent(t, l))
	r.push(t, "the content")
	known := newLogin()
	l.environment = append(slices.Clone(l.environment), "GITLAB_USER="+known.user, "GITLAB_TOKEN="+known.password)
	watchArguments(t, known.password)
	return l, r, []string{"--source", "git", "--source-insecure", "--source-branch", "main", "--source-url",
		"http://" + gitServer(t, newDoor(known), r.root) + "/" + r.name}
}

// cleanupOpenStack deletes the environment and proves that the project is as it was before.
func (l lab) cleanupOpenStack(t *testing.T, project project, before map[string]string) {
	t.Helper()
	code, plan := l.run(t, "cleanup", l.name, "--force", l.name)
	if code != 71 || !strings.Contains(plan, project.names(t, openstack.KindServer)[0]) ||
		!strings.Contains(plan, "k8s-clusterapi-cluster-management-"+l.name) {
		t.Fatalf("cleanup without --yes: exit code %d, plan:\n%s", code, plan)
	}
	if code, _ := l.run(t, "cleanup", l.name, "--force", l.name, "--yes"); code != 0 {
		t.Errorf("cleanup --yes ended with %d", code)
	}
	l.nothingLeft(t)
	if after := project.inventory(t); !maps.Equal(after, before) {
		t.Errorf("the project has %v, had %v", after, before)
	}
	if code, out := l.run(t, "cleanup", l.name, "--yes"); code != 0 || !strings.Contains(out, "nothing found") {
		t.Errorf("cleanup again: exit code %d, %s", code, out)
	}
}

// project is one of the lab's OpenStack, made for one test.
type project struct {
	inventory.Project
	secret string // of the application credential that the CLI and the cluster have
}

// openStackLab is a lab with a project of its own in OpenStack, of which the CLI learns as its user's shell tells it.
// It is given an application credential, not the user's password. The servers are of the image.
func openStackLab(t *testing.T, name, image string) (lab, project) {
	t.Helper()
	cloud, user := openStackProject(t, name)
	given, secret := applicationCredential(t, user, cloud)
	return openStackLabWith(t, name, image, given), project{inventory.Project{Client: user}, secret}
}

// openStackLabWith is a lab whose runs log in to a cloud with what its clouds.yaml says.
func openStackLabWith(t *testing.T, name, image string, cloud openstack.Cloud) lab {
	t.Helper()
	l := newLabFor(t, name)
	l.environment = append(l.environment, "OS_CLIENT_CONFIG_FILE="+cloudsFile(t, cloud), "OS_CLOUD="+cloud.Name,
		"OPENSTACK_EXTERNAL_NETWORK=public", "OPENSTACK_IMAGE_NAME="+image,
		"OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR=m1.medium", "OPENSTACK_NODE_MACHINE_FLAVOR=m1.small")
	cleanBefore(t, l)
	return l
}

func cloudsFile(t *testing.T, cloud openstack.Cloud) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(file, cloud.Config, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// openStackProject makes a project for this test, and returns the entry of its user, with a password, and the user's
// connection.
func openStackProject(t *testing.T, name string) (openstack.Cloud, *openstack.Client) {
	t.Helper()
	cloud, remove, err := openStack(t).Project(t.Context(), "e2e-"+name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && os.Getenv("CLUSTER_INIT_KEEP") != "" {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
		defer cancel()
		if err := remove(ctx); err != nil {
			t.Error(err)
		}
	})
	user, err := openstack.Connect(t.Context(), cloud)
	if err != nil {
		t.Fatal(err)
	}
	return cloud, user
}

func openStack(t *testing.T) *openstacklab.Lab {
	t.Helper()
	opened, err := openstacklab.Open(progress.New(os.Stderr))
	if err != nil {
		t.Fatal(err)
	}
	return opened
}

// holdsOpenStack fails the test unless the credentials and the objects of OpenStack's resource controller are in the
// management cluster, which would otherwise make them a second time, or not reach the cloud at all.
func (c cluster) holdsOpenStack(t *testing.T, name string) {
	t.Helper()
	secret := &corev1.Secret{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "management", Name: name + "-cloud-config"},
		secret); err != nil {
		t.Error(err)
	} else if _, moves := secret.Labels["clusterctl.cluster.x-k8s.io/move"]; !moves ||
		len(secret.Data["clouds.yaml"]) == 0 {
		t.Errorf("the Secret has the labels %v and %d bytes of clouds.yaml", secret.Labels,
			len(secret.Data["clouds.yaml"]))
	}
	capo := &appsv1.Deployment{}
	must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "capo-system", Name: "capo-controller-manager"}, capo))
	if args := capo.Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--sync-period=60s") {
		t.Errorf("the infrastructure provider has the arguments %v", args)
	}
	soonWithout(t, c.openStackProblems)
}

// openStackProblems returns what is not as one control plane and one worker of OpenStack, each in a server group, are.
func (c cluster) openStackProblems(t *testing.T) (problems []string) {
	t.Helper()
	for _, of := range []struct {
		group, version, kind string
		want                 int
	}{
		{"openstack.k-orc.cloud", "v1alpha1", "ServerGroup", 2},
		{"infrastructure.cluster.x-k8s.io", "v1beta1", "OpenStackCluster", 1},
		{"infrastructure.cluster.x-k8s.io", "v1beta1", "OpenStackMachine", 2},
	} {
		objects := c.list(t, of.group, of.version, of.kind)
		if len(objects) != of.want {
			problems = append(problems, fmt.Sprintf("%d objects of kind %s, want %d", len(objects), of.kind, of.want))
		}
		for i := range objects {
			if why := unready(&objects[i]); why != "" {
				problems = append(problems, why)
			}
		}
	}
	return problems
}

// readyNodes counts the nodes that are ready.
func (c cluster) readyNodes(ctx context.Context) int {
	var nodes corev1.NodeList
	if c.List(ctx, &nodes) != nil {
		return 0
	}
	ready := 0
	for _, node := range nodes.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return ready
}

// inventory returns what the project has, by kind and ID.
func (p project) inventory(t *testing.T) map[string]string {
	t.Helper()
	found, err := p.Inventory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for kind, err := range found.Unknown {
		t.Errorf("%s of the project: %v", kind, err)
	}
	all := map[string]string{}
	for _, r := range found.Resources {
		all[string(r.Kind)+" "+r.ID] = r.Name
	}
	return all
}

// names returns the names of what the project has of a kind, in order.
func (p project) names(t *testing.T, kind openstack.Kind) []string {
	t.Helper()
	var names []string
	for what, name := range p.inventory(t) {
		if strings.HasPrefix(what, string(kind)+" ") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
