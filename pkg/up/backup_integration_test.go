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
		_, err := run.Backup(ctx, to)
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

	shared.Namespaces(ctx, t, "team-a")
	elsewhere, beside := fluxserver.NewCluster("team-a", "shop"), fluxserver.NewCluster("observed", "till")
	shared.Create(ctx, t, elsewhere, beside)
	kept, err := run.Backup(ctx, to)
	if err != nil {
		t.Fatal(err)
	}
	written, manifest := kept.Path, kept.Manifest
	if !slices.Equal(kept.LeftOut, []string{"team-a/shop"}) {
		t.Errorf("it leaves out %v", kept.LeftOut)
	}
	b, err := backup.Open(written, backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	for section, want := range map[backup.Section]int{backup.Objects: 4, backup.References: 0, backup.Environment: 4} {
		if got := len(b.Section(section)); got != want {
			t.Errorf("%d %s, want %d: %v", got, section, want, manifest.Files)
		}
	}
	if manifest.Identity != backup.IdentityOf([]byte("one")) || filepath.Dir(written) != to {
		t.Errorf("%s has %+v", written, manifest)
	}
	shared.Remove(ctx, t, append(made, cluster, secret, authority, elsewhere, beside)...)
}
