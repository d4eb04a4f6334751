package up

import (
	"errors"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// A run reports which machines it replaces, and which values a cluster keeps although this shell has others.
func TestMachinesThatARunReplacesAreSaid(t *testing.T) {
	capo := func(sets ...string) *environment.Environment {
		return loaded(t, environment.Options{Name: "kubeadm-capo",
			Sets: append([]string{"cluster.openstack.control_plane_flavor=f", "cluster.openstack.worker_flavor=f",
				"cluster.openstack.image=i",
				"cluster.openstack.external_network=n", "cluster.openstack.cloud_name=telco",
				"cluster.openstack.clouds_yaml_b64=Y2xvdWRzOiB7dGVsY286IHthdXRoOiB7YXV0aF91cmw6ICJodHRwczovL2Nsb3VkIn19fQo="}, sets...)})
	}
	pooled := func(sets ...string) *environment.Environment {
		return loaded(t, environment.Options{Name: "kubeadm-capd",
			Sets: append([]string{"cluster.workers.gpu.replicas=1"}, sets...)})
	}
	first := loaded(t, environment.Options{Name: "kubeadm-capd"})
	proxied := loaded(t, environment.Options{Name: "kubeadm-capd",
		Variables: variables(map[string]string{"http_proxy": "http://p:1"})})
	image := environment.Options{Name: "kubeadm-capd", Sets: []string{"cluster.image=other"}}
	cases := map[string]struct {
		first, asked *environment.Environment
		allowed      []string
		unlisted     error
		said         string // empty: machines are not reported
		also         string
	}{
		"the same": {first: first, asked: first},
		"another image": {first: first, asked: loaded(t, image),
			said: "this run replaces 3 machines: 2 of the control plane (a, b); 1 of workers (c)"},
		"taints of the control plane": {first: first,
			asked: loaded(t, environment.Options{Name: "kubeadm-capd",
				Sets: []string{"cluster.control_plane.schedulable=false", "cluster.worker.replicas=1"}}),
			said: "this run replaces 2 machines: 2 of the control plane (a, b)"},
		"another flavor of workers": {first: capo(), asked: capo("cluster.openstack.worker_flavor=g"),
			said: "this run replaces 1 machine: 1 of workers (c)"},
		"taints of a pool": {first: pooled(), asked: pooled("cluster.workers.gpu.taints[0].key=a",
			"cluster.workers.gpu.taints[0].effect=NoExecute"),
			said: "this run replaces 1 machine: 1 of workers (g)"},
		"a label of the pool workers": {first: pooled(), asked: pooled("cluster.worker.labels.a=b"),
			said: "this run replaces 1 machine: 1 of workers (c)"},
		"a label that Cluster API sets": {first: pooled(),
			asked: pooled(`cluster.workers.gpu.labels.node-role\.kubernetes\.io/gpu=`)},
		"Machines cannot be listed": {first: first, asked: loaded(t, image), unlisted: errors.New("503"),
			said: "this run replaces machines; which ones is not known: "},
		"a proxy of the shell": {first: first, asked: proxied, also: "proxies.http_proxy: the cluster " +
			"keeps the value that it was last given, and http_proxy of this shell is not used; --allow-changes " +
			"proxies.http_proxy uses it"},
		"a proxy of the shell that is wanted": {first: first, asked: proxied, allowed: []string{"proxies.http_proxy"},
			said: "this run replaces 3 machines: 2 of the control plane (a, b); 1 of workers (c)"},
		"a shell without the proxy": {first: proxied, asked: first,
			also: "proxies.http_proxy: the cluster keeps the value that it was last given; http_proxy is not set here"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			given, err := tc.first.Objects()
			if err != nil {
				t.Fatal(err)
			}
			own := tc.first.ClusterName()
			ofPool := machineOf(own, "g", false)
			ofPool.SetLabels(map[string]string{"cluster.x-k8s.io/deployment-name": own + "-workers-gpu"})
			objects := []client.Object{given.Values, given.Secrets, given.InfraSecrets, definitionOf(t, tc.first),
				machineOf(own, "a", true), machineOf(own, "b", true), machineOf(own, "c", false),
				machineOf("tenant", "d", false), inNamespace("other", machineOf(own, "e", false))}
			if len(tc.first.Spec().Cluster.Workers) > 0 {
				objects = append(objects, kustomizationOf(t, tc.first, "workers-gpu"), ofPool)
			}
			o := clusters.Observation{Management: clusters.ManagementSide{State: clusters.ManagementActive,
				Cluster: clusterOf(t, tc.unlisted, objects...)}}
			notes := &pipeline.Notes{}
			applied, err := changes{environment: tc.asked, source: source.Source{Kind: source.Embedded},
				allowed: tc.allowed}.check(t.Context(), o, verdict{decision: pivoted}, notes)
			said := slices.Concat(notes.Seen, notes.Warnings)
			if err != nil {
				t.Fatal(err)
			}
			about := slices.DeleteFunc(slices.Clone(said),
				func(s string) bool { return !strings.HasPrefix(s, "this run replaces") })
			if tc.said == "" && len(about) > 0 || tc.said != "" &&
				(len(about) != 1 || !strings.HasPrefix(about[0], tc.said)) {
				t.Errorf("it says %q, want %q", about, tc.said)
			}
			if tc.also != "" && !slices.Contains(said, tc.also) {
				t.Errorf("it says %q, want %q", said, tc.also)
			}
			if tc.also != "" && applied.Spec().Proxies.HTTP != tc.first.Spec().Proxies.HTTP {
				t.Errorf("it applies proxy %q", applied.Spec().Proxies.HTTP)
			}
		})
	}
}

func inNamespace(namespace string, u client.Object) client.Object {
	u.SetNamespace(namespace)
	return u
}

// Machines are replaced because of a variable of the shell only if the user names the value.
func TestReplacingMachinesForTheShellIsRefused(t *testing.T) {
	of := func(image string) *environment.Environment {
		return loaded(t, environment.Options{Name: "kubeadm-capo",
			Sets: []string{"cluster.openstack.control_plane_flavor=f", "cluster.openstack.worker_flavor=f",
				"cluster.openstack.external_network=n",
				"cluster.openstack.cloud_name=telco",
				"cluster.openstack.clouds_yaml_b64=Y2xvdWRzOiB7dGVsY286IHthdXRoOiB7YXV0aF91cmw6ICJodHRwczovL2Nsb3VkIn19fQo="},
			Variables: variables(map[string]string{"OPENSTACK_IMAGE_NAME": image})})
	}
	given, err := of("one").Objects()
	if err != nil {
		t.Fatal(err)
	}
	o := clusters.Observation{Management: clusters.ManagementSide{State: clusters.ManagementActive,
		Cluster: clusterOf(t, nil, given.Values, given.Secrets, given.InfraSecrets, definitionOf(t, of("one")))}}
	check := changes{environment: of("two"), source: source.Source{Kind: source.Embedded}}
	_, err = check.check(t.Context(), o, verdict{decision: pivoted}, silence{})
	if fault.CodeOf(err) != fault.ChangeRefused ||
		!strings.Contains(err.Error(), "only the shell asks for it, by OPENSTACK_IMAGE_NAME") ||
		!strings.Contains(fault.HintOf(err), "--allow-changes cluster.openstack.image.") {
		t.Errorf("it is %v (%s)", err, fault.HintOf(err))
	}
	check.allowed = []string{"cluster.openstack.image"}
	if applied, err := check.check(t.Context(), o, verdict{decision: pivoted}, silence{}); err != nil ||
		applied.OpenStack().Image != "two" {
		t.Errorf("allowed, it is %v", err)
	}
}

// Until something was built, a run takes the values of the shell, and reports them.
func TestAFreshStartTakesTheShell(t *testing.T) {
	asked := loaded(t, environment.Options{Name: "kubeadm-capd",
		Variables: variables(map[string]string{"http_proxy": "http://p:1", "DOCKER_HOST": "unix:///x.sock"})})
	given, err := loaded(t, environment.Options{Name: "kubeadm-capd"}).Objects()
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]clusters.Observation{
		"no cluster": {},
		"nothing was built": {Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapEmpty,
			Cluster: clusterOf(t, nil, given.Values, given.Secrets, given.InfraSecrets)}},
	} {
		t.Run(name, func(t *testing.T) {
			notes := &pipeline.Notes{}
			applied, err := changes{environment: asked, source: source.Source{Kind: source.Embedded}}.check(t.Context(),
				o, verdict{decision: beforePivot}, notes)
			said := slices.Concat(notes.Seen, notes.Warnings)
			if err != nil || applied.Spec().Proxies.HTTP != "http://p:1" {
				t.Fatalf("it applies %v, %v", applied, err)
			}
			if want := "taken from the shell, and kept by the cluster from now on: cluster.docker_host (DOCKER_HOST), " +
				"proxies.http_proxy (http_proxy)"; !slices.Contains(said, want) {
				t.Errorf("it says %q, want %q", said, want)
			}
		})
	}
}

// definitionOf returns the Kustomization of the component `cluster` as the chart renders it.
func definitionOf(t *testing.T, env *environment.Environment) client.Object {
	t.Helper()
	return kustomizationOf(t, env, "cluster")
}

func kustomizationOf(t *testing.T, env *environment.Environment, name string) client.Object {
	t.Helper()
	objects, err := env.Render(environment.Management, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kustomizev1.KustomizationKind && o.GetName() == name
	})
	if i < 0 {
		t.Fatal("no Kustomization " + name)
	}
	return objects[i]
}

// machineOf is a Machine of a cluster.
func machineOf(cluster, name string, controlPlane bool) client.Object {
	m := machine(cluster)
	m.SetName(name)
	if controlPlane {
		m.SetLabels(map[string]string{"cluster.x-k8s.io/control-plane": ""})
	}
	return m
}
