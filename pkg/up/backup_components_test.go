package up

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/flux"
)

// components is workload cluster team-a/shop: a component from Git, one that is a chart, and one with a key for SOPS.
const components = `
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: shop},
  spec: {values: {secretRef: {name: text}}, kubeConfig: {secretRef: {name: of-release}}}}
---
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop-apps, MADE},
  spec: {sourceRef: {kind: GitRepository, name: shop-git}, dependsOn: [{name: shop-cni}],
  decryption: {provider: sops, secretRef: {name: sops-age}}, kubeConfig: {secretRef: {name: shop-kubeconfig}},
  healthChecks: [{apiVersion: v1, kind: Secret, name: text}], patches: [{target: {kind: Secret, name: text}, patch: x}],
  postBuild: {substitute: {SECRET: text, SECRET_2: "not/a name"},
    substituteFrom: [{kind: ConfigMap, name: region}, {kind: Secret, name: made-by-helm},
    {kind: Secret, name: absent, optional: true}, {kind: Secret, name: gone}, {kind: Secret, name: Not_a-name}]}}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: shop-git, MADE},
  spec: {url: "https://git.example", secretRef: {name: git-login}, proxySecretRef: {name: git-proxy},
  verify: {secretRef: {name: git-keys}}}}
---
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: shop-monitoring, MADE},
  spec: {sourceRef: {kind: OCIRepository, name: elsewhere, namespace: flux-system}},
  status: {inventory: {entries: [{id: team-a_shop.monitoring_helm.toolkit.fluxcd.io_HelmRelease, v: v2},
    {id: team-a_applied__Secret, v: v1}, {id: team-b_other_helm.toolkit.fluxcd.io_HelmRelease, v: v2}]}}}
---
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: shop.monitoring},
  spec: {chart: {spec: {chart: m, sourceRef: {kind: HelmRepository, name: shop-charts}}},
  valuesFrom: [{kind: Secret, name: monitoring-values}, {kind: Secret, name: applied},
    {kind: ConfigMap, name: monitoring-more, optional: true}]}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, metadata: {name: shop-charts, MADE},
  spec: {url: "https://charts.example", secretRef: {name: charts-login}, certSecretRef: {name: charts-ca}}}
---
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: other,
  labels: {helm.toolkit.fluxcd.io/name: other, helm.toolkit.fluxcd.io/namespace: team-a}},
  spec: {decryption: {provider: sops, secretRef: {name: of-another}}}}`

// The Secrets and ConfigMaps that the components of a workload cluster name in its namespace are in a backup. Those
// that Helm or Flux makes again are not.
func TestABackupHoldsWhatComponentsName(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, flux.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	const made = "labels: {helm.toolkit.fluxcd.io/name: shop, helm.toolkit.fluxcd.io/namespace: team-a}"
	var objects []client.Object
	add := func(doc string) {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatal(err)
		}
		u.SetNamespace("team-a")
		objects = append(objects, u)
	}
	for _, doc := range strings.Split(strings.ReplaceAll(components, "MADE", made), "\n---\n") {
		add(doc)
	}
	for _, name := range strings.Fields("of-release sops-age shop-kubeconfig text git-login git-proxy git-keys " +
		"applied monitoring-values charts-login charts-ca of-another") {
		add("{apiVersion: v1, kind: Secret, metadata: {name: " + name + "}}")
	}
	add("{apiVersion: v1, kind: Secret, metadata: {name: made-by-helm, " + made + "}}")
	add("{apiVersion: v1, kind: ConfigMap, metadata: {name: region}}")
	add("{apiVersion: v1, kind: ConfigMap, metadata: {name: monitoring-more}}")

	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	found, err := componentInputs(t.Context(), c, client.ObjectKey{Namespace: "team-a", Name: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, u := range found {
		names = append(names, u.GetKind()+"/"+u.GetName())
	}
	slices.Sort(names)
	const want = "ConfigMap/monitoring-more ConfigMap/region Secret/charts-ca Secret/charts-login Secret/git-keys " +
		"Secret/git-login Secret/git-proxy Secret/monitoring-values Secret/of-release Secret/shop-kubeconfig " +
		"Secret/sops-age"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
