package up

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// Whether anything was built is read from the cluster that holds the definition, and not only from the provider of this
// run.
func TestWhenChangesAreRefused(t *testing.T) {
	openstack := loaded(t, environment.Options{Name: "kubeadm-capo", Variables: variables(map[string]string{
		"OPENSTACK_CLOUD": "telco", "OPENSTACK_IMAGE_NAME": "image", "OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "big",
		"OPENSTACK_NODE_MACHINE_FLAVOR": "small", "OPENSTACK_EXTERNAL_NETWORK": "public",
		// telco: {auth_type: v3applicationcredential, auth: {auth_url: "https://c", application_credential_id: a,
		// application_credential_secret: b}}
		"OPENSTACK_CLOUD_YAML_B64": "Y2xvdWRzOiB7dGVsY286IHthdXRoX3R5cGU6IHYzYXBwbGljYXRpb25jcmVkZW50aWFsLCBhdXRoOiB7YXV0aF91cmw6ICJodHRwczovL2MiLCBhcHBsaWNhdGlvbl9jcmVkZW50aWFsX2lkOiBhLCBhcHBsaWNhdGlvbl9jcmVkZW50aWFsX3NlY3JldDogYn19fQo=",
	}), Sets: []string{"cluster.name=kubeadm-capd"}})
	rke2 := loaded(t, environment.Options{Name: "rke2-capd", Sets: []string{"cluster.name=kubeadm-capd"}})
	ignition := loaded(t, environment.Options{Name: "kubeadm-capd",
		Sets: []string{"cluster.bootstrap_format=ignition"}})
	plain := loaded(t, environment.Options{Name: "kubeadm-capd"})
	given, err := loaded(t, environment.Options{Name: "kubeadm-capd",
		Sets: []string{"cluster.worker.replicas=2"}}).Objects()
	if err != nil {
		t.Fatal(err)
	}
	unlisted := errors.New("the server is overloaded")
	cases := map[string]struct {
		asked    *environment.Environment
		machines []string // Machine objects, by the names of their clusters
		cluster  bool     // a Cluster exists
		seen     func(*clusters.Observation)
		chart    string // the version that was installed last
		source   source.Kind
		tag      string // of its chart
		unlisted error
		pivoted  bool     // the management cluster holds the last values, and the bootstrap cluster is gone
		keys     []string // refused keys; none: it is not refused
	}{
		"fewer workers, nothing was built":          {asked: plain},
		"fewer workers, a Cluster without machines": {asked: plain, cluster: true},
		"fewer workers, Machines that the provider does not see": {asked: plain, cluster: true,
			machines: []string{"kubeadm-capd"}, keys: []string{"cluster.worker.replicas"}},
		"fewer workers, Machines whose Cluster is gone": {asked: plain, machines: []string{"kubeadm-capd"},
			keys: []string{"cluster.worker.replicas"}},
		"fewer workers, Machines of another cluster": {asked: plain, machines: []string{"other"}},
		"fewer workers, a machine that the provider sees": {asked: plain,
			seen: machines(provider.Machine{Name: "one"}), keys: []string{"cluster.worker.replicas"}},
		"fewer workers, the provider does not say": {asked: plain, seen: notChecked(errors.New("503")),
			keys: []string{"cluster.worker.replicas"}},
		"fewer workers, and the Machines cannot be listed": {asked: plain, unlisted: unlisted},
		"another infrastructure, nothing was built":        {asked: openstack},
		"another infrastructure, a Cluster without machines": {asked: openstack, cluster: true,
			keys: []string{"cluster.infra_provider"}},
		"another infrastructure, Machines": {asked: openstack, cluster: true,
			machines: []string{"kubeadm-capd"}, keys: []string{"cluster.infra_provider", "cluster.worker.replicas",
				"components.capd"}},
		"another bootstrap provider, a Cluster without machines": {asked: rke2, cluster: true,
			keys: []string{"cluster.bootstrap_provider"}},
		"another format, a Cluster without machines": {asked: ignition, cluster: true},
		"another format, Machines": {asked: ignition, cluster: true,
			machines: []string{"kubeadm-capd"}, keys: []string{"cluster.bootstrap_format", "cluster.worker.replicas"}},
		"an older chart, nothing was built": {asked: plain, chart: "99.0.0",
			keys: []string{"chart"}},
		"an older chart, of a registry": {asked: plain, chart: "99.0.0", source: source.OCI,
			tag: "98.0.0", keys: []string{"chart"}},
		"the same chart, of a registry": {asked: plain, chart: "99.0.0", source: source.OCI,
			tag: "99.0.0"},
		"a chart of a registry whose tag is no version": {asked: plain, chart: "99.0.0", source: source.OCI,
			tag: "latest"},
		"a chart of a Git repository, which only Flux reads": {asked: plain, chart: "99.0.0", source: source.Git},
		"a newer chart": {asked: plain, chart: "0.0.1"},

		"another infrastructure, after the pivot": {asked: openstack, pivoted: true,
			keys: []string{"cluster.infra_provider", "cluster.worker.replicas", "components.capd"}},
		"another bootstrap provider, after the pivot": {asked: rke2, pivoted: true,
			keys: []string{"cluster.bootstrap_provider", "cluster.worker.replicas", "components.cabpk",
				"components.cni"}},
		"fewer workers, after the pivot": {asked: plain, pivoted: true,
			keys: []string{"cluster.worker.replicas"}},
		"an older chart, after the pivot": {asked: plain, pivoted: true, chart: "99.0.0",
			keys: []string{"cluster.worker.replicas", "chart"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{given.Values, given.Secrets, given.InfraSecrets}
			for _, of := range tc.machines {
				objects = append(objects, machine(of))
			}
			if tc.chart != "" {
				hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace,
					Name: flux.ReleaseName}}
				hr.Status.History = helmv2.Snapshots{{ChartVersion: tc.chart, Version: 1}}
				objects = append(objects, hr)
			}
			o := clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapActive,
				Cluster: clusterOf(t, tc.unlisted, objects...)}}
			if tc.cluster {
				o.Bootstrap.Holds = clusters.Holding{Clusters: []capi.Cluster{{Object: capi.Object{Kind: "Cluster",
					Namespace: "management", Name: "kubeadm-capd"}}}}
			}
			if tc.seen != nil {
				tc.seen(&o)
			}
			if tc.source == "" {
				tc.source = source.Embedded
			}
			c := changes{environment: tc.asked,
				source: source.Source{Kind: tc.source, Chart: flux.OCIArtifact{Tag: tc.tag}}}
			is := beforePivot
			if tc.pivoted {
				is, o.Management, o.Bootstrap = pivoted, clusters.ManagementSide{State: clusters.ManagementActive,
					Cluster: o.Bootstrap.Cluster}, clusters.BootstrapSide{}
			}
			_, err := c.check(t.Context(), o, verdict{decision: is}, silence{})
			switch {
			case tc.unlisted != nil:
				if !errors.Is(err, tc.unlisted) || fault.CodeOf(err) != fault.ClusterUnreachable {
					t.Errorf("it is %v, want what could not be listed", err)
				}
			case len(tc.keys) == 0:
				if err != nil {
					t.Errorf("refused: %v", err)
				}
			default:
				_, allow, _ := strings.Cut(fault.HintOf(err), "--allow-changes ")
				if got := strings.Split(strings.TrimSuffix(allow, "."), ","); fault.CodeOf(
					err) != fault.ChangeRefused || !slices.Equal(got, tc.keys) {
					t.Errorf("refused for %v, want %v: %v", got, tc.keys, err)
				}
			}
		})
	}
}

func loaded(t *testing.T, o environment.Options) *environment.Environment {
	t.Helper()
	o.Content = clusterinit.Content()
	env, err := environment.Load(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func variables(of map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, is := of[name]; return value, is }
}

// machine is a Machine object of a cluster.
func machine(cluster string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2",
		"kind":     "Machine",
		"metadata": map[string]any{"namespace": "management", "name": cluster + "-x"},
		"spec":     map[string]any{"clusterName": cluster}}}
}

// clusterOf is a cluster with these objects. If unlisted is not nil, listing Machines fails with it.
func clusterOf(t *testing.T, unlisted error, objects ...client.Object) *kube.Cluster {
	t.Helper()
	scheme, err := capi.NewScheme()
	if err == nil {
		err = errors.Join(clientgoscheme.AddToScheme(scheme), flux.AddToScheme(scheme))
	}
	if err != nil {
		t.Fatal(err)
	}
	list := func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
		if unlisted != nil && strings.HasPrefix(l.GetObjectKind().GroupVersionKind().Kind, "Machine") {
			return unlisted
		}
		return c.List(ctx, l, opts...)
	}
	return &kube.Cluster{Name: "bootstrap", Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		objects...).WithInterceptorFuncs(interceptor.Funcs{List: list}).Build()}
}
