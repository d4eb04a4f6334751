//go:build integration

package up

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	fluxmeta "github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/fluxserver"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// backUpLiving backs up one real API server as a management cluster, once it is proven to be this one and complete.
func backUpLiving(ctx context.Context, t *testing.T, env *environment.Environment) {
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	state, to := t.TempDir(), t.TempDir()
	path := filepath.Join(state, "kubeconfig")
	run := New(Options{Subject: clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: state,
		KubeconfigPath: path}, Environment: env,
		Version: "v1"}, clusters.Parts{Docker: &docker.Client{}, Now: time.Now})
	refuses := func(when string, code fault.Code, want string) {
		t.Helper()
		_, err := run.Backup(ctx, to, nil)
		if fault.CodeOf(err) != code || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s %q", when, err, code, want)
		}
		if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", when, left, err)
		}
	}
	refuses("nothing names it", fault.ClusterUnreachable, "no kubeconfig names")
	if err := os.WriteFile(path, shared.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	refuses("it holds nothing", fault.BackupRefused, "does not hold its own definition")
	cluster, secret := fluxserver.NewCluster("observed", env.ClusterName()),
		fluxserver.KubeconfigSecret("observed", env.ClusterName(),
			fluxserver.KubeconfigOf(t, "another", "https://192.0.2.1"))
	shared.Create(ctx, t, cluster)
	shared.Create(ctx, t, secret)
	refuses("it holds the definition of another cluster", fault.ClusterForeign, "is not the management cluster")
	secret.Data["value"] = shared.Kubeconfig()
	shared.Update(ctx, t, secret)
	authority := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "observed", Name: env.ClusterName() + "-ca"},
		Data: map[string][]byte{"tls.crt": []byte("one"), "tls.key": []byte("hunter2")}}
	shared.Create(ctx, t, authority)
	refuses("it has no release", fault.BackupRefused, "HelmRelease flux-system/telco-cloud-init")

	release, err := flux.HelmRelease(flux.Release{ValuesFrom: []flux.ValuesReference{{Kind: "ConfigMap",
		Name: environment.ValuesName}, {Kind: "Secret", Name: environment.SecretsName}}})
	if err != nil {
		t.Fatal(err)
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: flux.Namespace, Name: name} }
	made := []client.Object{release, flux.ChartSource(flux.OCIArtifact{URL: "oci://registry.example/chart", Tag: "v1"}),
		&corev1.ConfigMap{ObjectMeta: meta(environment.ValuesName)},
		&corev1.Secret{ObjectMeta: meta(environment.SecretsName)}}
	for _, o := range made {
		shared.Create(ctx, t, o)
	}
	shared.Patch(ctx, t, cluster, `{"spec":{"paused":true}}`)
	refuses("it is paused", fault.BackupRefused, "is paused")
	shared.Patch(ctx, t, cluster, `{"spec":{"paused":null}}`)

	elsewhere := workloadsOf(ctx, t)
	beside := fluxserver.NewCluster("observed", "till")
	shared.Create(ctx, t, beside)
	earlier := filepath.Join(to, owned.Backup(env.ClusterName(), time.Unix(0, 0))+owned.EncryptedSuffix)
	if err := os.WriteFile(earlier, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run.BackupKeep = 1
	kept, err := run.Backup(ctx, to, nil)
	if fault.CodeOf(err) != fault.BackupIncomplete || !strings.Contains(err.Error(),
		"team-c/held: Cluster team-c/held is paused") {
		t.Fatal(err)
	}
	written, manifest := kept.Path, kept.Manifest
	if want := []LeftOut{{Cluster: "team-c/held", Reason: "Cluster team-c/held is paused"},
		{Cluster: "team-d/early", Reason: "its Cluster does not exist"}}; len(kept.LeftOut) != 3 || !slices.Equal(kept.LeftOut[1:], want) ||
		kept.LeftOut[0].Cluster != "team-b/half" || !strings.Contains(kept.LeftOut[0].Reason, "its release is "+
		"incomplete: read ConfigMap team-b/half-values") {
		t.Errorf("it leaves out %v", kept.LeftOut)
	}
	by := "observed/" + env.ClusterName()
	if want := []backup.WorkloadCluster{{Namespace: "team-a", Cluster: "shop", ManagedBy: by, Release: true},
		{Namespace: "team-b", Cluster: "half", ManagedBy: by}}; !slices.Equal(manifest.Workloads, want) {
		t.Errorf("it holds %+v", manifest.Workloads)
	}
	b, err := backup.Open(written, backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	for section, want := range map[backup.Section]int{backup.Objects: 6, backup.References: 0, backup.Environment: 4,
		backup.Workload: 4} {
		if got := len(b.Section(section)); got != want {
			t.Errorf("%d %s, want %d: %v", got, section, want, manifest.Files)
		}
	}
	if manifest.Identity != backup.IdentityOf([]byte("one")) || filepath.Dir(written) != to {
		t.Errorf("%s has %+v", written, manifest)
	}
	if _, err := os.Stat(earlier); err != nil || len(kept.Pruned.Removed) > 0 {
		t.Errorf("an incomplete backup has replaced another one: %v, %v", err, kept.Pruned)
	}
	shared.Remove(ctx, t, elsewhere...)
	// As in the Pod of the component backup: no docker CLI, nothing in the state folder, the kubeconfig of Cluster API.
	t.Setenv("PATH", t.TempDir())
	run = New(Options{Subject: clusters.Subject{Identity: clusters.IdentityOf(env), StateFolder: t.TempDir(),
		KubeconfigPath: path}, Environment: env, Version: "v1", BackupKeep: 1},
		clusters.Parts{Docker: &docker.Client{}, Now: time.Now})
	kept, err = run.Backup(ctx, to, nil)
	if left, _ := os.ReadDir(to); err != nil || !slices.Equal(kept.Pruned.Removed, []string{earlier, written}) ||
		len(left) != 1 || filepath.Join(to, left[0].Name()) != kept.Path {
		t.Errorf("a complete backup leaves %v and has removed %+v: %v", left, kept.Pruned, err)
	}
	shared.Remove(ctx, t, append(made, cluster, secret, authority, beside)...)
}

// workloadsOf creates workload clusters: one with its release, one whose release is incomplete, one that is paused, and
// one of which there is only the release.
func workloadsOf(ctx context.Context, t *testing.T) (made []client.Object) {
	shared.Namespaces(ctx, t, "team-a", "team-b", "team-c", "team-d")
	for _, w := range []struct {
		namespace, name                  string
		cluster, paused, release, values bool
	}{{"team-a", "shop", true, false, true, true}, {"team-b", "half", true, false, true, false},
		{"team-c", "held", true, true, false, false}, {"team-d", "early", false, false, true, true}} {
		meta := metav1.ObjectMeta{Namespace: w.namespace, Name: w.name + "-values"}
		if w.cluster {
			made = append(made, fluxserver.NewCluster(w.namespace, w.name))
			shared.Create(ctx, t, made[len(made)-1])
		}
		if w.paused {
			shared.Patch(ctx, t, made[len(made)-1], `{"spec":{"paused":true}}`)
		}
		if w.values {
			made = append(made, &corev1.ConfigMap{ObjectMeta: meta})
			shared.Create(ctx, t, made[len(made)-1])
		}
		if !w.release {
			continue
		}
		release, err := flux.HelmRelease(flux.Release{Namespace: w.namespace, Name: w.name, Chart: w.name + "-chart",
			ValuesFrom: []flux.ValuesReference{{Kind: "ConfigMap", Name: w.name + "-values"}}})
		if err != nil {
			t.Fatal(err)
		}
		release.Labels = map[string]string{"cluster-init.io/workload": w.name}
		from := flux.ChartSource(flux.OCIArtifact{URL: "oci://registry.example/chart", Tag: "v1"})
		from.SetNamespace(w.namespace)
		from.SetName(w.name + "-chart")
		shared.Create(ctx, t, release, from)
		made = append(made, release, from)
	}
	component := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop-apps",
		Labels: map[string]string{"helm.toolkit.fluxcd.io/name": "shop", "helm.toolkit.fluxcd.io/namespace": "team-a"}},
		Spec: kustomizev1.KustomizationSpec{Interval: metav1.Duration{Duration: time.Minute},
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "shop-chart"},
			Decryption: &kustomizev1.Decryption{Provider: "sops",
				SecretRef: &fluxmeta.LocalObjectReference{Name: "sops"}}}}
	key := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "sops"}}
	shared.Create(ctx, t, component, key)
	return append(made, component, key)
}
