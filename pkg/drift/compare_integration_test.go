//go:build integration

package drift_test

import (
	"context"

	"path"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/object"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/drift"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

const bound = time.Minute

func load(t *testing.T, sets ...string) *environment.Environment {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// tree has a folder for each component, with objects of its own names.
func tree(t *testing.T, env *environment.Environment) content.Tree {
	t.Helper()
	paths, err := env.ComponentPaths()
	if err != nil {
		t.Fatal(err)
	}
	tree := content.Tree{}
	for _, folder := range paths {
		name := strings.ReplaceAll(path.Base(folder), ".", "-")
		tree[path.Join(folder, "kustomization.yaml")] = []byte("resources: [objects.yaml]\n")
		tree[path.Join(folder, "objects.yaml")] = []byte(strings.ReplaceAll(componentObjects, "NAME", name))
	}
	return tree
}

const componentObjects = `apiVersion: v1
kind: Secret
metadata: {name: NAME, namespace: default}
stringData: {password: s3cret-of-NAME}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME, namespace: default}
data: {answer: "42", other: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: default}
spec: {selector: {app: NAME}, ports: [{port: 80}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {of: NAME}}]}
rules: []
`

// installed applies an environment as Flux's controllers would have, which do not run here.
func installed(ctx context.Context, t *testing.T, env *environment.Environment) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	release := rollout.Release{Environment: env, Source: source.Source{Kind: source.Embedded},
		Phase: environment.Management, Definition: true}
	if _, err := release.Apply(ctx, shared.Client, rollout.Suspension{Cluster: shared.Client, Of: "management/other"},
		time.Now()); err != nil {
		t.Fatal(err)
	}
	overrides := map[string]any{"phase": "management", "source": source.Source{Kind: source.Embedded}.Values()}
	rendered, err := manifests.Render(ctx, env, environment.Management, overrides, tree(t, env))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range rendered.Chart {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		for key, value := range rollout.ReleaseLabels() {
			labels[key] = value
		}
		o.SetLabels(labels)
		apply(ctx, t, "helm-controller", o)
	}
	for _, component := range rendered.Components {
		entries := []kustomizev1.ResourceRef{}
		for _, o := range component.Objects {
			apply(ctx, t, "kustomize-controller", o)
			entries = append(entries, kustomizev1.ResourceRef{ID: object.UnstructuredToObjMetadata(o).String(),
				Version: "v1"})
		}
		inventory(ctx, t, component.Name, entries)
	}
}

func apply(ctx context.Context, t *testing.T, owner string, o *unstructured.Unstructured) {
	t.Helper()
	if err := shared.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(o.DeepCopy()),
		client.FieldOwner(owner), client.ForceOwnership); err != nil {
		t.Fatalf("apply %s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

func inventory(ctx context.Context, t *testing.T, name string, entries []kustomizev1.ResourceRef) {
	t.Helper()
	k := &kustomizev1.Kustomization{}
	if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: flux.Namespace, Name: name}, k); err != nil {
		t.Fatal(err)
	}
	k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: append(entries, inventoryOf(k)...)}
	if err := shared.Client.Status().Update(ctx, k); err != nil {
		t.Fatal(err)
	}
}

func inventoryOf(k *kustomizev1.Kustomization) []kustomizev1.ResourceRef {
	if k.Status.Inventory == nil {
		return nil
	}
	return k.Status.Inventory.Entries
}

func compare(t *testing.T, env *environment.Environment, in *kube.Cluster) drift.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	report := drift.New(env.Name())
	report.Clusters = append(report.Clusters, drift.Comparison{Environment: env, Tree: tree(t, env),
		Known: redact.New("s3cret-of-cni")}.Compare(ctx, in, environment.Management))
	return report
}

// Without Flux's controllers, what they would have applied is there: nothing differs. Then one thing after the other
// does.
func TestCompare(t *testing.T) {
	env := load(t)
	if found := compare(t, env, shared.Client); !found.Differs() || found.Err() != nil ||
		found.Clusters[0].Note == "" || strings.Contains(printed(t, found), "Nothing differs") {
		t.Fatalf("a cluster without a release: %+v", found)
	}
	installed(t.Context(), t, env)
	gathered := &rbacv1.ClusterRole{}
	gathered.Name = "capi"
	rules := `{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}` // as the control plane would
	if err := shared.Client.Patch(t.Context(), gathered, client.RawPatch("application/merge-patch+json", []byte(rules)),
		client.FieldOwner("clusterrole-aggregation-controller")); err != nil {
		t.Fatal(err)
	}
	if found := compare(t, env, shared.Client); found.Differs() || found.Err() != nil || found.Clusters[0].Note != "" ||
		len(found.Clusters[0].Parts) < 5 {
		t.Fatalf("nothing was changed: %s", printed(t, found))
	}
	cases := map[string]struct {
		env    *environment.Environment
		change func(context.Context, *testing.T)
		says   []string
		never  []string
		err    fault.Code
	}{
		"a value": {env: load(t, "cluster.worker.replicas=2"),
			says: []string{"~ cluster.worker.replicas: 0 -> 2\n", "~ Kustomization flux-system/cluster\n",
				"/spec/postBuild/substitute/WORKER_REPLICAS: 0 -> 2\n"}},
		"a component goes": {env: load(t, "components.cni.enabled=false"),
			says: []string{"- Kustomization flux-system/cni\n"}},
		"a field by hand": {change: func(ctx context.Context, t *testing.T) {
			patch(ctx, t, &corev1.ConfigMap{}, "capi", `{"data":{"answer":"41","mine":"x"}}`)
		}, says: []string{"  capi\n    ~ ConfigMap default/capi\n        /data/answer: 41 -> 42\n"},
			never: []string{"mine"}},
		"a secret by hand": {change: func(ctx context.Context, t *testing.T) {
			patch(ctx, t, &corev1.Secret{}, "capi", `{"stringData":{"password":"an0ther"}}`)
		}, says: []string{"~ Secret default/capi\n        /data/password: *** (before) -> *** (after)\n"},
			never: []string{"an0ther", "YW4wdGhlcg", "s3cret"}},
		"it is gone": {change: func(ctx context.Context, t *testing.T) {
			if err := shared.Client.Delete(ctx, named(&corev1.ConfigMap{}, "capi")); err != nil {
				t.Fatal(err)
			}
		}, says: []string{"+ ConfigMap default/capi\n"}},
		"no longer part of it": {change: func(ctx context.Context, t *testing.T) {
			for _, name := range []string{"old-capi", "old-cni"} {
				o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
				shared.Create(ctx, t, o)
				t.Cleanup(func() { shared.Remove(context.WithoutCancel(ctx), t, o) })
			}
			inventory(ctx, t, "capi", []kustomizev1.ResourceRef{{ID: "default_old-capi__ConfigMap", Version: "v1"},
				{ID: "default_deleted_apps_Deployment", Version: "v1"}})
			inventory(ctx, t, "cni", []kustomizev1.ResourceRef{{ID: "default_old-cni__ConfigMap", Version: "v1"},
				{ID: "default_deleted_apps_DaemonSet", Version: "v1"}})
		}, says: []string{"- ConfigMap default/old-capi\n",
			". ConfigMap default/old-cni (no longer applied, not deleted)\n"}, never: []string{"default/deleted"}},
		"no longer part of it, and never pruned": {change: func(ctx context.Context, t *testing.T) {
			for name, annotations := range map[string]map[string]string{"kept": {"kustomize.toolkit.fluxcd.io/prune": "disabled"}, "loose": nil} {
				o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
					Annotations: annotations}}
				shared.Create(ctx, t, o)
				t.Cleanup(func() { shared.Remove(context.WithoutCancel(ctx), t, o) })
			}
			inventory(ctx, t, "capi", []kustomizev1.ResourceRef{{ID: "default_kept__ConfigMap", Version: "v1"},
				{ID: "default_loose__ConfigMap", Version: "v1"}})
		}, says: []string{". ConfigMap default/kept (no longer applied, not deleted)\n", "- ConfigMap default/loose\n"}},
		"it cannot be changed": {change: func(ctx context.Context, t *testing.T) {
			patch(ctx, t, &corev1.ConfigMap{}, "capi", `{"immutable":true,"data":{"answer":"0"}}`)
		}, says: []string{"! ConfigMap default/capi (the API server would refuse it): ", "immutable"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			defer cancel()
			asked := env
			if tc.env != nil {
				asked = tc.env
			}
			if tc.change != nil {
				tc.change(ctx, t)
				t.Cleanup(func() { restore(t, env) })
			}
			found := compare(t, asked, shared.Client)
			text := printed(t, found)
			if !found.Differs() && !strings.Contains(text, "no longer applied") || fault.CodeOf(found.Err()) != tc.err {
				t.Errorf("differs: %v, error %v, want %q", found.Differs(), found.Err(), tc.err)
			}
			for _, want := range tc.says {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q:\n%s", want, text)
				}
			}
			for _, secret := range tc.never {
				if strings.Contains(text, secret) {
					t.Errorf("it says %q:\n%s", secret, text)
				}
			}
		})
	}
}

// Without permissions or without an answer, the report does not say what exists.
func TestWhatCannotBeCompared(t *testing.T) {
	env := load(t)
	for name, change := range map[string]func(*clientcmdapi.Config){
		"no permissions": func(c *clientcmdapi.Config) {
			c.AuthInfos[c.Contexts[c.CurrentContext].AuthInfo].Impersonate = "nobody"
		},
		"no answer": func(c *clientcmdapi.Config) {
			c.Clusters[c.Contexts[c.CurrentContext].Cluster].Server = "https://127.0.0.1:1"
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := clientcmd.Load(shared.Kubeconfig())
			if err != nil {
				t.Fatal(err)
			}
			change(config)
			kubeconfig, err := clientcmd.Write(*config)
			if err != nil {
				t.Fatal(err)
			}
			in, err := kube.Connect("management", kubeconfig, shared.Client.Scheme())
			if err != nil {
				t.Fatal(err)
			}
			found := compare(t, env, in)
			if found.Differs() || fault.CodeOf(found.Err()) != fault.ClusterUnreachable ||
				strings.Contains(printed(t, found), "Nothing differs.\n") {
				t.Errorf("error %v:\n%s", found.Err(), printed(t, found))
			}
		})
	}
}

func printed(t *testing.T, r drift.Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func named(o client.Object, name string) client.Object {
	o.SetNamespace("default")
	o.SetName(name)
	return o
}

func patch(ctx context.Context, t *testing.T, o client.Object, name, merge string) {
	t.Helper()
	if err := shared.Client.Patch(ctx, named(o, name), client.RawPatch("application/merge-patch+json", []byte(merge)),
		client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
}

// restore puts back what a case changed.
func restore(t *testing.T, env *environment.Environment) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
	defer cancel()
	for _, o := range []client.Object{&corev1.ConfigMap{}, &corev1.Secret{}} {
		if err := client.IgnoreNotFound(shared.Client.Delete(ctx, named(o, "capi"))); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"capi", "cni"} {
		k := &kustomizev1.Kustomization{}
		if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: flux.Namespace, Name: name}, k); err != nil {
			t.Fatal(err)
		}
		k.Status.Inventory = nil
		if err := shared.Client.Status().Update(ctx, k); err != nil {
			t.Fatal(err)
		}
	}
	installed(ctx, t, env)
}
