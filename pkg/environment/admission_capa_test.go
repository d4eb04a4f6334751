//go:build integration && capa

package environment_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/internal/providers"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// withProviders starts an API server, and the managers of all providers against it.
func withProviders(ctx context.Context, t *testing.T) *kube.Cluster {
	t.Helper()
	server, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	c, err := kube.Connect("management", server.Kubeconfig(), clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	c.Config.WarningHandlerWithContext = rest.NoWarnings{}
	running, err := providers.Run(ctx, c, allProviders(ctx, t, c), providers.Options{Folder: t.TempDir(),
		Env: []string{"DOCKER_HOST=tcp://127.0.0.1:1", "AWS_EC2_METADATA_DISABLED=true"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	return c
}

// The webhooks of Cluster API core, CABPK, KCP, CAPRKE2, CAPD, CAPO and CAPA admit all definitions. Their managers run
// as processes; nothing but dry runs reaches them, so they make nothing.
func TestDefinitionsAreAdmitted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := withProviders(ctx, t)
	objects := dryRunDefinitions(ctx, t, c)
	refusedByWebhook(ctx, t, c, objects)
	called := calledWebhooks(ctx, t, c.Config)
	for _, name := range webhooksOf(ctx, t, c, objects) {
		if !called[name] {
			t.Errorf("the webhook %s has not been called", name)
		}
	}
}

// allProviders returns what the components of all providers apply, with Ignition allowed. The OpenStack Resource
// Controller has no webhooks: only its definitions are needed.
func allProviders(ctx context.Context, t *testing.T, c *kube.Cluster) []*unstructured.Unstructured {
	t.Helper()
	releases, err := providers.ReadReleases()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: flux.Namespace}}); err != nil {
		t.Fatal(err)
	}
	var all []*unstructured.Unstructured
	for _, from := range []struct {
		environment string
		components  []string
	}{{"kubeadm-capd", []string{"capi", "cabpk", "capd"}}, {"rke2-capo", []string{"cabpr", "orc", "capo"}},
		{"kubeadm-capa", []string{"capa"}}} {
		options := environment.Options{Name: from.environment, Variables: variables(allVariables())}
		if from.environment == "kubeadm-capd" {
			options.Sets = []string{"cluster.bootstrap_formats={cloud-config,ignition}"}
		}
		rendered, err := load(t, options).Render(environment.Management, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range rendered {
			if object.GetKind() == "Secret" || object.GetKind() == "Namespace" {
				if err := c.ApplyAll(ctx, object.DeepCopy()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, name := range from.components {
			i := slices.IndexFunc(rendered, func(o *unstructured.Unstructured) bool {
				return o.GetKind() == "Kustomization" && o.GetName() == name
			})
			if i < 0 {
				t.Fatalf("%s has no component %s", from.environment, name)
			}
			built, err := releases.Build(ctx, c, rendered[i])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, slices.DeleteFunc(built, func(o *unstructured.Unstructured) bool {
				return name == "orc" && o.GetKind() == "Deployment"
			})...)
		}
	}
	return all
}

// refusedByWebhook checks that a webhook can refuse a definition: KCP takes no even number of machines.
func refusedByWebhook(ctx context.Context, t *testing.T, c *kube.Cluster, objects []*unstructured.Unstructured) {
	t.Helper()
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "KubeadmControlPlane"
	})
	if i < 0 {
		t.Fatal("no definition has a KubeadmControlPlane")
	}
	wrong := objects[i].DeepCopy()
	if err := unstructured.SetNestedField(wrong.Object, int64(2), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	err := c.Create(ctx, wrong, client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), "admission webhook") {
		t.Errorf("a control plane of two machines: %v", err)
	}
}

// webhooksOf returns the names of the webhooks for a creation of objects.
func webhooksOf(ctx context.Context, t *testing.T, c *kube.Cluster, objects []*unstructured.Unstructured) []string {
	t.Helper()
	resources := map[schema.GroupResource]bool{}
	for _, o := range objects {
		mapping, err := c.RESTMapper().RESTMapping(o.GroupVersionKind().GroupKind())
		if err != nil {
			t.Fatal(err)
		}
		resources[mapping.Resource.GroupResource()] = true
	}
	var mutating admissionv1.MutatingWebhookConfigurationList
	var validating admissionv1.ValidatingWebhookConfigurationList
	for _, list := range []client.ObjectList{&mutating, &validating} {
		if err := c.List(ctx, list); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	add := func(name string, rules []admissionv1.RuleWithOperations) {
		for _, rule := range rules {
			for resource := range resources {
				if slices.Contains(rule.Operations, admissionv1.Create) &&
					slices.Contains(rule.APIGroups, resource.Group) &&
					slices.Contains(rule.Resources, resource.Resource) {
					names = append(names, name)
				}
			}
		}
	}
	for _, configuration := range mutating.Items {
		for _, w := range configuration.Webhooks {
			add(w.Name, w.Rules)
		}
	}
	for _, configuration := range validating.Items {
		for _, w := range configuration.Webhooks {
			add(w.Name, w.Rules)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, kind := range []string{"cluster.cluster", "kubeadmcontrolplane", "rke2controlplane", "devcluster",
		"openstackcluster", "awscluster"} {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, kind) }) {
			t.Errorf("no webhook for a %s is among %q", kind, names)
		}
	}
	return names
}

// calledWebhooks returns the names of the webhooks that the API server has called with success, by its own metrics.
func calledWebhooks(ctx context.Context, t *testing.T, config *rest.Config) map[string]bool {
	t.Helper()
	authorized, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := authorized.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		labels, is := strings.CutPrefix(line, "apiserver_admission_webhook_request_total{")
		_, name, named := strings.Cut(labels, `name="`)
		name, _, ended := strings.Cut(name, `"`)
		if is && named && ended && strings.Contains(labels, `code="200"`) {
			called[name] = true
		}
	}
	return called
}
