package environment_test

import (
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// The release of a workload cluster has the cluster and what is in it, and no provider. All is in the namespace of the
// Cluster, and begins with the cluster's name: a namespace may hold several.
func TestTheReleaseOfAWorkloadCluster(t *testing.T) {
	for name, options := range everyEnvironment(t) {
		t.Run(name, func(t *testing.T) {
			env := load(t, asWorkload(options))
			objects, err := env.Render(environment.Workload, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				isSource := o.GetKind() == "GitRepository" && o.GetName() == "telco-cloud-init"
				if o.GetNamespace() != "team-a" || !strings.HasPrefix(o.GetName(), "shop-") && !isSource {
					t.Errorf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
				}
			}
			components, err := env.Components(environment.Workload)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range components {
				if !slices.Contains([]string{"shop-cluster", "shop-cni", "shop-cloud-provider", "shop-cinder-csi",
					"shop-health-checks"}, c.Name) {
					t.Errorf("component %s", c.Name)
				}
			}
		})
	}
}

// Machines of a workload cluster run no provider: the engine's socket would give their pods the whole host.
func TestMachinesOfAWorkloadClusterHaveNoSocket(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "rke2-capd"} {
		env := load(t, asWorkload(environment.Options{Name: name, Sets: []string{"cluster.docker_socket=/run/docker.sock"}}))
		objects, err := env.Render(environment.Workload, nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(toYAML(t, objects)); strings.Contains(text, "docker.sock") {
			t.Errorf("%s: the socket is in\n%s", name, text)
		}
	}
}

func TestRefusedWorkloads(t *testing.T) {
	for name, tc := range map[string]struct{ set, says string }{
		"no definition":   {"components.cluster.enabled=false", "there is no workload cluster"},
		"a name too long": {"cluster.name=" + strings.Repeat("a", 41), "more than 40 characters"},
	} {
		options := asWorkload(environment.Options{Name: "kubeadm-capd"})
		options.Sets = append(options.Sets, tc.set)
		options.Content = clusterinit.Content()
		if _, err := environment.Load(t.Context(), options); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
