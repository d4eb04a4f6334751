package rollout_test

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
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

const fromRegistry = `
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: telco-cloud-init}, spec: {chartRef: {kind: OCIRepository, name: telco-cloud-init-chart},
  values: {source: {kind: OCIRepository, name: telco-cloud-init}},
  valuesFrom: [{kind: ConfigMap, name: management-cluster-values}, {kind: Secret, name: management-cluster-secrets}, {kind: Secret, name: management-cluster-infra-secrets}, {kind: ConfigMap, name: mine, optional: true}]}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: telco-cloud-init-chart}, spec: {secretRef: {name: telco-cloud-init-source}}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: telco-cloud-init}, spec: {secretRef: {name: telco-cloud-init-source}, certSecretRef: {name: authority}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: telco-cloud-init-source}}
---
{apiVersion: v1, kind: Secret, metadata: {name: authority}}
---
{apiVersion: v1, kind: Secret, metadata: {name: unrelated}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: management-cluster-values}}
---
{apiVersion: v1, kind: Secret, metadata: {name: management-cluster-secrets}}
---
{apiVersion: v1, kind: Secret, metadata: {name: management-cluster-infra-secrets}}`

const fromGit = `
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: telco-cloud-init}, spec: {chart: {spec: {sourceRef: {kind: GitRepository, name: telco-cloud-init}}},
  values: {source: {kind: GitRepository, name: telco-cloud-init}}, valuesFrom: [{kind: ConfigMap, name: management-cluster-values}]}}
---
{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: telco-cloud-init}, spec: {}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: management-cluster-values}}`

func TestKept(t *testing.T) {
	for name, tc := range map[string]struct{ cluster, want, wrong string }{
		"from a registry": {fromRegistry, "ConfigMap/management-cluster-values HelmRelease/telco-cloud-init " +
			"OCIRepository/telco-cloud-init OCIRepository/telco-cloud-init-chart " +
			"Secret/authority Secret/management-cluster-infra-secrets Secret/management-cluster-secrets " +
			"Secret/telco-cloud-init-source", ""},
		"from Git": {fromGit, "ConfigMap/management-cluster-values GitRepository/telco-cloud-init " +
			"HelmRelease/telco-cloud-init", ""},
		"no release": {strings.ReplaceAll(fromGit, "HelmRelease, metadata: {name: telco",
			"HelmRelease, metadata: {name: other"), "", "read HelmRelease flux-system/telco-cloud-init"},
		"no values": {strings.ReplaceAll(fromGit, "ConfigMap, metadata: {name: management",
			"ConfigMap, metadata: {name: other"), "", "read ConfigMap flux-system/management-cluster-values"},
		"no Secret of its source": {strings.ReplaceAll(fromRegistry, "Secret, metadata: {name: authority",
			"Secret, metadata: {name: other"), "", "read Secret flux-system/authority"},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := clientgoscheme.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			if err := flux.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			var objects []client.Object
			for _, doc := range strings.Split(tc.cluster, "\n---\n") {
				u := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
					t.Fatal(err)
				}
				u.SetNamespace(flux.Namespace)
				objects = append(objects, u)
			}
			found, err := rollout.ReleaseInputs(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(
				objects...).Build())
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Errorf("got %v, want %q", err, tc.wrong)
				}
				return
			}
			var names []string
			for _, u := range found {
				names = append(names, u.GetKind()+"/"+u.GetName())
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); err != nil || got != tc.want {
				t.Errorf("got %s, %v\nwant %s", got, err, tc.want)
			}
		})
	}
}
