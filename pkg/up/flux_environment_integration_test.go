//go:build integration

package up

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// A proxy's password is in a Secret, and in no Deployment. Flux's pods are recreated only when it changes.
func TestFluxHasItsProxyFromASecret(t *testing.T) {
	archive, err := apiserver.ReadManifest(flux.ManifestsURL)
	if err != nil {
		t.Fatal(err)
	}
	secret := client.ObjectKey{Namespace: flux.Namespace, Name: "telco-cloud-init-flux-environment"}
	install := func(environment ...flux.EnvironmentVariable) *appsv1.Deployment {
		t.Helper()
		objects, err := flux.Render(flux.Options{Archive: archive, Environment: environment})
		if err != nil {
			t.Fatal(err)
		}
		if err := flux.Install(t.Context(), shared.Client, objects); err != nil {
			t.Fatal(err)
		}
		d := &appsv1.Deployment{}
		if err := shared.Client.Get(t.Context(), client.ObjectKey{Namespace: flux.Namespace,
			Name: flux.Controllers()[0]}, d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	proxy := func(password string) flux.EnvironmentVariable {
		return flux.EnvironmentVariable{Name: "HTTPS_PROXY", Value: "http://me:" + password + "@proxy:3128"}
	}
	first, same, other := install(proxy("hunter2")), install(proxy("hunter2")), install(proxy("hunter3"))
	if first.Generation != same.Generation || same.Generation == other.Generation {
		t.Errorf("generations of the Deployment: %d, %d with the same proxy, %d with another one", first.Generation,
			same.Generation, other.Generation)
	}
	for _, d := range []*appsv1.Deployment{first, other} {
		if text, err := json.Marshal(d); err != nil || strings.Contains(string(text), "hunter") {
			t.Errorf("the password is in the Deployment (%v)", err)
		}
	}
	held := &corev1.Secret{}
	if err := shared.Client.Get(t.Context(), secret, held); err != nil ||
		!strings.Contains(string(held.Data["HTTPS_PROXY"]), "hunter3") {
		t.Errorf("the Secret holds %q, %v", held.Data, err)
	}
	install()
	if err := shared.Client.Get(t.Context(), secret, held); !apierrors.IsNotFound(err) {
		t.Errorf("without a proxy the Secret is still there: %v", err)
	}
}
