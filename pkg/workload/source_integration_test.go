//go:build integration

package workload

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

// The copy of the source has what the source has, with its Secrets, under names of the cluster's own.
func TestCopySource(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	values, err := json.Marshal(map[string]any{"source": reference{"GitRepository", "telco-cloud-init"}})
	if err != nil {
		t.Fatal(err)
	}
	own, err := flux.HelmRelease(flux.Release{FromGit: true})
	if err != nil {
		t.Fatal(err)
	}
	own.Spec.Values = &apiextensionsv1.JSON{Raw: values}
	repository := flux.GitRepository(flux.GitSource{URL: "https://git.example.org/x.git", Branch: "main",
		SecretName: "telco-cloud-init-git"})
	repository.Spec.Suspend = true
	login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: flux.Namespace, Name: "telco-cloud-init-git"},
		Data: map[string][]byte{"password": []byte("p")}}
	key := Key{"team-d", "shop"}
	shared.Create(ctx, t, own, repository)
	defer shared.Remove(ctx, t, own, repository)
	if _, err := copySource(ctx, shared.Client, key); !apierrors.IsNotFound(err) {
		t.Errorf("without its Secret: %v", err)
	}
	shared.Create(ctx, t, login)
	defer shared.Remove(ctx, t, login)
	got, err := copySource(ctx, shared.Client, key)
	if err != nil {
		t.Fatal(err)
	}
	if !got.fromGit || got.chart != "shop-telco-cloud-init" || got.content != (reference{"GitRepository",
		"shop-telco-cloud-init"}) || len(got.objects) != 2 {
		t.Errorf("%+v", got)
	}
	shared.Namespaces(ctx, t, "team-d")
	if err := shared.Client.ApplyAll(ctx, got.objects...); err != nil {
		t.Fatal(err)
	}
	var copied sourcev1.GitRepository
	if err := shared.Client.Get(ctx, client.ObjectKey{Namespace: "team-d", Name: "shop-telco-cloud-init"},
		&copied); err != nil || copied.Spec.URL != repository.Spec.URL || copied.Spec.Suspend ||
		copied.Spec.SecretRef.Name != "shop-git" || copied.Labels[Label] != "shop" {
		t.Errorf("%+v, %v", copied.Spec, err)
	}
}
