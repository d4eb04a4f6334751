package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// sources returns a component and sources, as manifests: some of the release, one of the user, one of another
// namespace.
func sources() string {
	const of = "labels: {helm.toolkit.fluxcd.io/name: telco-cloud-init, helm.toolkit.fluxcd.io/namespace: flux-system}"
	source := func(kind, name, namespace, labels, spec string) string {
		return fmt.Sprintf("apiVersion: source.toolkit.fluxcd.io/v1\nkind: %s\nmetadata: {name: %s, namespace: %s, %s}\n"+
			"spec: {%s}\nstatus: {conditions: [{type: Ready, status: \"True\", reason: Succeeded}]}\n", kind, name,
			namespace, labels, spec)
	}
	const login = "secretRef: {name: login}"
	return strings.Join([]string{
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system, " +
			of + "}\n",
		source("GitRepository", "apps", "flux-system", of, login),
		source("GitRepository", "public", "flux-system", of, ""),
		source("GitRepository", "suspended", "flux-system", of, "suspend: true, "+login),
		source("GitRepository", "of-the-user", "flux-system", "", login),
		source("OCIRepository", "telco-cloud-init-chart", "flux-system", "", "certSecretRef: {name: authority}"),
		source("OCIRepository", "telco-cloud-init", "team-a", "", login),
		source("HelmRepository", "charts", "flux-system", of, login),
		source("HelmRepository", "static", "flux-system", of, "type: oci, "+login),
	}, "\n---\n")
}

// Secrets that changed are read only after a request. Ready alone is what the former Secret has fetched.
func TestSourcesWithASecretHandleTheRequest(t *testing.T) {
	c := inMemory(t, sources(), "")
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
	requests, err := Release{}.Goal(inMemory(t, sources(), ""), "").Made(t.Context())
	if err != nil || len(requests) != 1 {
		t.Errorf("the release waits for %v: %v", requests, err)
	}
}
