//go:build integration

package environment_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// definitionCases are the sorts of clusters that there are, of all providers.
func definitionCases(t *testing.T) map[string]environment.Options {
	t.Helper()
	all := []string{"cluster.worker.replicas=1", "cluster.control_plane.schedulable=false",
		"proxies.http_proxy=http://proxy:3128",
		"cluster.registry_mirrors[0].host=registry.k8s.io", "cluster.registry_mirrors[0].url=http://mirror:5000"}
	cases := map[string]environment.Options{
		"kubeadm":              {},
		"kubeadm and Ignition": {Sets: append([]string{"cluster.bootstrap_format=ignition"}, all...)},
		"RKE2":                 {Name: "rke2-capd"},
		"RKE2 with everything": {Name: "rke2-capd", Sets: append([]string{"cluster.rke2.air_gapped=true",
			"cluster.rke2.air_gapped_checksum=" + strings.Repeat("0f", 32)}, all...)},
	}
	for name, test := range openstackCases() {
		values := openstackVariables()
		maps.Copy(values, test.changes)
		cases[name] = environment.Options{Name: test.name, Variables: variables(values), Sets: test.sets}
	}
	cases["AWS"] = environment.Options{Name: "kubeadm-capa", Variables: variables(allVariables()),
		Sets: []string{"cluster.image=ami-0123456789abcdef0"}}
	for _, name := range []string{"kubeadm-capd", "rke2-capd", "kubeadm-capo", "rke2-capo", "kubeadm-capa"} {
		cases[name+" with pools"] = withPools(t, name)
		cases[name+" with settings of machines"] = withSettings(t, name)
		cases[name+" with settings of Kubernetes"] = withKubernetes(t, name)
	}
	for _, name := range []string{"kubeadm-capd", "kubeadm-capo"} {
		cases[name+" with pools and Ignition"] = withPools(t, name, "cluster.bootstrap_format=ignition")
		cases[name+" with settings and Ignition"] = withSettings(t, name, "cluster.bootstrap_format=ignition")
	}
	for _, name := range []string{"kubeadm-capo", "kubeadm-capa"} {
		cases[name+" with a system extension"] = sysextOptions(t, name)
	}
	return cases
}

// dryRunDefinitions creates all of each definition, of a management and of a workload cluster, by strict dry runs. It
// returns the objects.
func dryRunDefinitions(ctx context.Context, t *testing.T, c client.Client) []*unstructured.Unstructured {
	t.Helper()
	for _, name := range []string{"management", "team-a"} {
		if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil &&
			!apierrors.IsAlreadyExists(err) { // a component may have it
			t.Fatal(err)
		}
	}
	var all []*unstructured.Unstructured
	for name, options := range definitionCases(t) {
		for _, phase := range []environment.Phase{environment.Management, environment.Workload} {
			t.Run(name+" as "+string(phase)+" cluster", func(t *testing.T) {
				if options.Workload = phase == environment.Workload; options.Workload {
					options.Sets = append(slices.Clone(options.Sets), "cluster.name=shop", "cluster.namespace=team-a")
				}
				env := load(t, options)
				objects := append(appliedIn(t, env, phase, "cluster"), appliedIn(t, env, phase, "health-checks")...)
				for pool := range env.Spec().Cluster.Workers {
					objects = append(objects, appliedIn(t, env, phase, "workers-"+pool)...)
					objects = append(objects, appliedIn(t, env, phase, "health-checks-"+pool)...)
				}
				for _, object := range objects {
					if err := c.Create(ctx, object.DeepCopy(), client.DryRunAll,
						client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
						t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
					}
				}
				all = append(all, objects...)
			})
		}
	}
	return all
}
