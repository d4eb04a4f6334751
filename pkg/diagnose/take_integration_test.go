//go:build integration

package diagnose

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

var shared fluxserver.Server

func TestMain(m *testing.M) { fluxserver.Main(m, func(s fluxserver.Server) { shared = s }) }

// TestTake reads a real API server: once as one who may see all, once as one who may see nothing but Kustomizations.
func TestTake(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shared.Namespaces(ctx, t, "flux-system")
	k := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kustomize.toolkit.fluxcd.io/v1",
		"kind": "Kustomization",
		"spec": map[string]any{"interval": "1h", "prune": true, "sourceRef": map[string]any{"kind": "GitRepository",
			"name": "nope"}}}}
	k.SetNamespace("flux-system")
	k.SetName("broken")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "flux-system", Name: "password"},
		StringData: map[string]string{"password": "never-to-be-seen-123"}}
	shared.Create(ctx, t, k)
	shared.Create(ctx, t, secret)

	t.Run("all", func(t *testing.T) {
		listed := readiness.Observe(ctx, shared.Client)
		if len(listed.NotChecked) > 0 {
			t.Error(listed.NotChecked)
		}
		for _, u := range listed.Objects {
			if data, has := u.Object["data"]; has {
				t.Errorf("%s %s was read with its content: %v", u.GetKind(), u.GetName(), data)
			}
		}
		s := NewSnapshot(listed)
		findings, _ := s.examine(s.roots(side{}), readRules(t))
		if len(findings) != 1 || findings[0].Rule != "missing-source" ||
			!strings.Contains(findings[0].Cause, "GitRepository/flux-system/nope") {
			t.Errorf("%+v", findings)
		}
	})
	t.Run("what may not be read is not missing, and is named", func(t *testing.T) {
		limited := limited(ctx, t)
		r := Report{}
		r.judge(see(ctx, limited, side{}, redact.New()), side{}, readRules(t))
		for _, f := range r.Findings {
			// the certificates of this server end in a week, which the handshake shows to everybody
			if f.Rule != "expires-soon" {
				t.Errorf("%+v", f)
			}
		}
		if len(r.Findings) != 2 {
			t.Errorf("what ends soon is named for the server and for the kubeconfig: %+v", r.Findings)
		}
		for _, what := range []string{"gitrepositories.source.toolkit.fluxcd.io of the bootstrap cluster",
			"secrets of the bootstrap cluster", "pods of the bootstrap cluster", "logs of the bootstrap cluster"} {
			if !slices.ContainsFunc(r.NotChecked, func(u string) bool { return strings.Contains(u, what) }) {
				t.Errorf("it does not say that it has not looked at %s: %v", what, r.NotChecked)
			}
		}
	})
	t.Run("a server that is silent", func(t *testing.T) {
		gone := connectAs(t, func(config *clientcmdapi.Config) {
			for _, cluster := range config.Clusters {
				cluster.Server = "https://127.0.0.1:1"
			}
		})
		listed := readiness.Observe(ctx, gone)
		if len(listed.NotChecked) == 0 || len(listed.Objects) > 0 || len(listed.Kinds) > 0 {
			t.Errorf("%+v", listed)
		}
	})
}

// limited is a connection of a user who may list Kustomizations, and nothing else.
func limited(ctx context.Context, t *testing.T) *kube.Cluster {
	t.Helper()
	name := metav1.ObjectMeta{Name: "limited"}
	shared.Create(ctx, t, &rbacv1.ClusterRole{ObjectMeta: name,
		Rules: []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{"kustomize.toolkit.fluxcd.io"},
			Resources: []string{"kustomizations"}}}})
	shared.Create(ctx, t, &rbacv1.ClusterRoleBinding{ObjectMeta: name,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "limited"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "limited"}}})
	return connectAs(t, func(config *clientcmdapi.Config) {
		for _, user := range config.AuthInfos {
			user.Impersonate = "limited"
		}
	})
}

// connectAs connects with a kubeconfig of the server that was changed.
func connectAs(t *testing.T, change func(*clientcmdapi.Config)) *kube.Cluster {
	t.Helper()
	config, err := clientcmd.Load(shared.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	change(config)
	kubeconfig, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kube.Connect("bootstrap", kubeconfig, shared.Client.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	return c
}
