package workload

import (
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// What another made is never applied over: least of all the release of the management cluster itself.
func TestForeignNamesAreRefused(t *testing.T) {
	own := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: "telco-cloud-init"}}
	foreign := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2",
		"kind": "Cluster", "metadata": map[string]any{"namespace": "flux-system", "name": "telco-cloud-init"}}}
	for says, there := range map[string]client.Object{"the HelmRelease flux-system/telco-cloud-init exists": own,
		"the Cluster flux-system/telco-cloud-init exists": foreign} {
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, flux.AddToScheme} {
			if err := add(scheme); err != nil {
				t.Fatal(err)
			}
		}
		env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Workload: true,
			Content: clusterinit.Content(), Variables: func(string) (string, bool) { return "", false },
			Sets: []string{"cluster.name=telco-cloud-init", "cluster.namespace=flux-system"}})
		if err != nil {
			t.Fatal(err)
		}
		c := Cluster{Environment: env, Management: &kube.Cluster{Name: "management",
			Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(there).Build()}}
		if err := c.checkName(t.Context()); fault.CodeOf(err) != fault.ClusterForeign ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// A Secret of the user's own that has the name of one of the cluster's objects stays as it is.
func TestForeignObjectsAreRefused(t *testing.T) {
	key := Key{Namespace: "team-a", Name: "shop"}
	for label, want := range map[string]fault.Code{"": fault.ClusterForeign, "till": fault.ClusterForeign, "shop": ""} {
		there := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "shop-git"}}
		if label != "" {
			there.Labels = map[string]string{Label: label}
		}
		ours := &corev1.Secret{}
		key.name(ours, "git")
		c := Cluster{Environment: shop(t), Management: &kube.Cluster{Name: "management",
			Client: fake.NewClientBuilder().WithObjects(there).Build()}}
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}}
		if err := c.checkForeign(t.Context(), []client.Object{namespace, ours}); fault.CodeOf(err) != want {
			t.Errorf("with the label %q: %v, want %q", label, err, want)
		}
	}
}

func shop(t *testing.T, sets ...string) *environment.Environment {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Workload: true,
		Content: clusterinit.Content(), Variables: func(string) (string, bool) { return "", false },
		Sets: append(sets, "cluster.name=shop", "cluster.namespace=team-a")})
	if err != nil {
		t.Fatal(err)
	}
	return env
}
