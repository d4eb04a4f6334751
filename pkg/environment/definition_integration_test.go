//go:build integration

package environment_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// What machines are defined with is held against the providers' own CRDs on a real API server, which refuses
// a field that it does not know.
func TestDefinitionsAreWhatTheProvidersTake(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	crds, err := apiserver.ClusterAPIDefinitions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, definitions := range []func(context.Context) ([]*apiextensionsv1.CustomResourceDefinition, error){
		apiserver.RKE2Definitions, apiserver.OpenStackDefinitions, apiserver.ServerGroupDefinition,
		apiserver.AWSDefinitions,
	} {
		more, err := definitions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		crds = append(crds, more...)
	}
	server, err := apiserver.Start(crds...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	c, err := client.New(server.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"management", "team-a"} {
		if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
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
	}
	for name, options := range cases {
		for _, phase := range []environment.Phase{environment.Management, environment.Workload} {
			t.Run(name+" as "+string(phase)+" cluster", func(t *testing.T) {
				if options.Workload = phase == environment.Workload; options.Workload {
					options.Sets = append(slices.Clone(options.Sets), "cluster.name=shop", "cluster.namespace=team-a")
				}
				env := load(t, options)
				objects := appliedIn(t, env, phase, "cluster")
				for pool := range env.Spec().Cluster.Workers {
					objects = append(objects, appliedIn(t, env, phase, "workers-"+pool)...)
				}
				for _, object := range objects {
					if err := c.Create(ctx, object, client.DryRunAll,
						client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
						t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
					}
				}
			})
		}
	}
}
