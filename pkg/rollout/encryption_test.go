package rollout

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// withKeys loads an environment whose Secrets are encrypted with these keys.
func withKeys(t *testing.T, keys ...string) *environment.Environment {
	t.Helper()
	sets := []string{"secret_fingerprint_key=key"}
	for i, key := range keys {
		at := "cluster.kubernetes.encryption_at_rest.keys[" + string(rune('0'+i)) + "]."
		sets = append(sets, at+"name="+key, at+"secret="+strings.Repeat(key, 42)+"A=")
	}
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Variables: func(string) (string, bool) { return "", false }, Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// configOf is the KubeadmConfig of a machine whose files come from these Secrets.
func configOf(name, cluster, role string, secrets ...string) *unstructured.Unstructured {
	files := []any{}
	for _, secret := range secrets {
		files = append(files, map[string]any{"path": "/a", "contentFrom": map[string]any{
			"secret": map[string]any{"name": secret, "key": "b"}}})
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
		"kind": "KubeadmConfig", "spec": map[string]any{"files": files},
		"metadata": map[string]any{"namespace": "management", "name": name,
			"labels": map[string]any{"cluster.x-k8s.io/cluster-name": cluster, role: ""}}}}
}

// secretOf returns the name of the Secret with the keys of an environment.
func secretOf(t *testing.T, env *environment.Environment) string {
	t.Helper()
	given, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	name, err := env.EncryptionSecret(given)
	if err != nil || !environment.IsEncryptionSecret(name) {
		t.Fatalf("%q, %v", name, err)
	}
	return name
}

// The Secret of a workload cluster has another name.
func TestKeysOfAWorkloadCluster(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Workload: true,
		Content: clusterinit.Content(), Variables: func(string) (string, bool) { return "", false },
		Sets: []string{"cluster.name=shop", "cluster.namespace=team", "cluster.kubernetes.encryption_at_rest.keys[0].name=a",
			"cluster.kubernetes.encryption_at_rest.keys[0].secret=" + strings.Repeat("a", 42) + "A="}})
	if err != nil {
		t.Fatal(err)
	}
	if name := secretOf(t, env); !strings.HasPrefix(name, "shop") {
		t.Errorf("it is called %s", name)
	}
}

// Keys change only when all control-plane machines have the ones before.
func TestUnfinishedKeysAreRefused(t *testing.T) {
	const cluster, controlPlane = "kubeadm-capd", "cluster.x-k8s.io/control-plane"
	before, after := withKeys(t, "a"), withKeys(t, "a", "b")
	last, err := before.Objects()
	if err != nil {
		t.Fatal(err)
	}
	current := secretOf(t, before)
	const other, proxies = "telco-cloud-init-machine-encryption-0", "telco-cloud-init-machine-proxies"
	for name, tc := range map[string]struct {
		to       *environment.Environment
		machines []client.Object
		unlisted error
		code     fault.Code
		message  string
	}{
		"all have them": {to: after, machines: []client.Object{configOf("one", cluster, controlPlane, proxies, current)}},
		"one has others": {to: after, machines: []client.Object{configOf("one", cluster, controlPlane, current),
			configOf("two", cluster, controlPlane, other)}, code: fault.ChangeRefused, message: "yet: two"},
		"one has none": {to: after, machines: []client.Object{configOf("one", cluster, controlPlane, proxies)},
			code: fault.ChangeRefused, message: "yet: one"},
		"a worker, and another cluster": {to: after, machines: []client.Object{configOf("one", cluster, "worker"),
			configOf("two", "other", controlPlane)}},
		"back to what all have": {to: withKeys(t, "a", "c"), machines: []client.Object{
			configOf("one", cluster, controlPlane, secretOf(t, withKeys(t, "a", "c")))}},
		"no change": {to: before, machines: []client.Object{configOf("one", cluster, controlPlane)}},
		"the API does not answer": {to: after, unlisted: errors.New("503"), code: fault.ClusterUnreachable,
			message: "503"},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := tc.to.Changes(last)
			if err != nil {
				t.Fatal(err)
			}
			list := func(ctx context.Context, c client.WithWatch, l client.ObjectList, o ...client.ListOption) error {
				if tc.unlisted != nil {
					return tc.unlisted
				}
				return c.List(ctx, l, o...)
			}
			c := &kube.Cluster{Name: "management", Client: fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).
				WithObjects(tc.machines...).WithInterceptorFuncs(interceptor.Funcs{List: list}).Build()}
			err = RefuseUnfinishedKeys(t.Context(), c, tc.to, last, changes)
			if (err != nil) != (tc.code != "") || err != nil && (fault.CodeOf(err) != tc.code ||
				!strings.Contains(err.Error(), tc.message)) {
				t.Errorf("%v, want %s %q", err, tc.code, tc.message)
			}
		})
	}
}
