package rollout

import (
	"maps"
	"slices"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

const sources = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
  labels: {helm.toolkit.fluxcd.io/name: telco-cloud-init, helm.toolkit.fluxcd.io/namespace: flux-system}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: apps
  namespace: flux-system
  labels: {helm.toolkit.fluxcd.io/name: telco-cloud-init, helm.toolkit.fluxcd.io/namespace: flux-system}
spec: {secretRef: {name: git-auth-apps}}
status:
  observedGeneration: 0
  conditions: [{type: Ready, status: "True", reason: Succeeded}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: public
  namespace: flux-system
  labels: {helm.toolkit.fluxcd.io/name: telco-cloud-init, helm.toolkit.fluxcd.io/namespace: flux-system}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: suspended
  namespace: flux-system
  labels: {helm.toolkit.fluxcd.io/name: telco-cloud-init, helm.toolkit.fluxcd.io/namespace: flux-system}
spec: {suspend: true, secretRef: {name: git-auth-suspended}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: of-the-user, namespace: flux-system}
spec: {secretRef: {name: login}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: telco-cloud-init-chart, namespace: flux-system}
spec: {certSecretRef: {name: authority}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: telco-cloud-init, namespace: team-a}
spec: {secretRef: {name: login}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: charts
  namespace: flux-system
  labels: {helm.toolkit.fluxcd.io/name: telco-cloud-init, helm.toolkit.fluxcd.io/namespace: flux-system}
spec: {secretRef: {name: login}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata:
  name: static
  namespace: flux-system
  labels: {helm.toolkit.fluxcd.io/name: telco-cloud-init, helm.toolkit.fluxcd.io/namespace: flux-system}
spec: {type: oci, secretRef: {name: login}}
`

// Secrets that changed are read only after a request. Ready alone is what the former Secret has fetched.
func TestSourcesWithASecretHandleTheRequest(t *testing.T) {
	c := inMemory(t, sources, "")
	requests, err := Release{}.Goal(c, "now").Made(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[Key]string{
		{"Kustomization", "flux-system", "apps"}:                   "",
		{"GitRepository", "flux-system", "apps"}:                   "now",
		{"HelmRepository", "flux-system", "charts"}:                "now",
		{"OCIRepository", "flux-system", "telco-cloud-init-chart"}: "now",
	}
	if !maps.Equal(requests, want) {
		t.Errorf("the release waits for %v, want %v", requests, want)
	}
	all := &unstructured.UnstructuredList{}
	all.SetAPIVersion("source.toolkit.fluxcd.io/v1")
	var requested []string
	for _, kind := range []string{"GitRepository", "HelmRepository", "OCIRepository"} {
		all.SetKind(kind + "List")
		if err := c.List(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		for _, o := range all.Items {
			if o.GetAnnotations()[meta.ReconcileRequestAnnotation] == "now" {
				requested = append(requested, o.GetName())
			}
		}
	}
	if !slices.Equal(requested, []string{"apps", "charts", "telco-cloud-init-chart"}) {
		t.Errorf("requested: %v", requested)
	}

	git := &unstructured.Unstructured{}
	git.SetAPIVersion("source.toolkit.fluxcd.io/v1")
	git.SetKind("GitRepository")
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "flux-system", Name: "apps"}, git); err != nil {
		t.Fatal(err)
	}
	v := newView("management", Goal{})
	v.take(kube.Change{Object: git})
	if !v.reached() {
		t.Fatal("nothing is required yet")
	}
	v.require(map[Key]string{{"GitRepository", "flux-system", "apps"}: "now"})
	if v.reached() {
		t.Error("Ready counts although source-controller has not handled the request")
	}
	if err := unstructured.SetNestedField(git.Object, "now", "status", "lastHandledReconcileAt"); err != nil {
		t.Fatal(err)
	}
	if _, o := v.take(kube.Change{Object: git}); o.State != health.Ready || !v.reached() {
		t.Errorf("it is %s after it has handled the request", o.State)
	}
}

func TestNoRequestWithoutAToken(t *testing.T) {
	requests, err := Release{}.Goal(inMemory(t, sources, ""), "").Made(t.Context())
	if err != nil || len(requests) != 1 {
		t.Errorf("the release waits for %v: %v", requests, err)
	}
}
