package flux

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AddToScheme registers Flux's kinds.
func AddToScheme(scheme *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{sourcev1.AddToScheme, kustomizev1.AddToScheme,
		helmv2.AddToScheme} {
		if err := add(scheme); err != nil {
			return fmt.Errorf("registering Flux's kinds: %w", err)
		}
	}
	return nil
}

// ReleaseName is the name of the HelmRelease and of the source of its components.
const ReleaseName = "telco-cloud-init"

// ChartSourceName is the name of the OCIRepository of the chart, if chart and components are separate.
const ChartSourceName = ReleaseName + "-chart"

const sourceInterval = 5 * time.Minute

// OCIArtifact names an OCI artifact by repository, and by digest or tag.
type OCIArtifact struct {
	URL        string // oci://host/repository
	Tag        string // empty when Digest is set
	Digest     string
	Insecure   bool   // plain HTTP
	SecretName string // of type kubernetes.io/dockerconfigjson; empty: none
	// CASecretName is a Secret with the key ca.crt, for a server whose certificate the usual authorities did not sign.
	// Empty means none.
	CASecretName string
}

// ContentSource returns the OCIRepository of the components.
func ContentSource(a OCIArtifact) *sourcev1.OCIRepository { return ociRepository(ReleaseName, a, nil) }

// ChartSource returns the OCIRepository of the chart.
func ChartSource(a OCIArtifact) *sourcev1.OCIRepository {
	return ociRepository(ChartSourceName, a, &sourcev1.OCILayerSelector{
		MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
		Operation: sourcev1.OCILayerCopy,
	})
}

func ociRepository(name string, a OCIArtifact, layer *sourcev1.OCILayerSelector) *sourcev1.OCIRepository {
	r := &sourcev1.OCIRepository{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: Namespace},
		Spec: sourcev1.OCIRepositorySpec{
			URL:           a.URL,
			Reference:     &sourcev1.OCIRepositoryRef{Digest: a.Digest, Tag: a.Tag},
			LayerSelector: layer,
			Interval:      metav1.Duration{Duration: sourceInterval},
			Insecure:      a.Insecure,
		},
	}
	if a.SecretName != "" {
		r.Spec.SecretRef = &meta.LocalObjectReference{Name: a.SecretName}
	}
	if a.CASecretName != "" {
		r.Spec.CertSecretRef = &meta.LocalObjectReference{Name: a.CASecretName}
	}
	return r
}

// GitSource names a commit, a branch, a tag, or the newest tag of a range of versions, of a Git repository.
type GitSource struct {
	URL, Branch, Commit, Tag, SemVer string
	SecretName                       string // with username and password, or with a key for ssh; empty: none
}

// GitRepository returns the GitRepository of the chart and the components.
func GitRepository(g GitSource) *sourcev1.GitRepository {
	r := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Name: ReleaseName, Namespace: Namespace},
		Spec: sourcev1.GitRepositorySpec{
			URL:       g.URL,
			Reference: &sourcev1.GitRepositoryRef{Branch: g.Branch, Commit: g.Commit, Tag: g.Tag, SemVer: g.SemVer},
			Interval:  metav1.Duration{Duration: sourceInterval},
		},
	}
	if g.SecretName != "" {
		r.Spec.SecretRef = &meta.LocalObjectReference{Name: g.SecretName}
	}
	return r
}

// Release specifies a HelmRelease of the chart telco-cloud-init. Without names it is the cluster's own.
type Release struct {
	Namespace, Name string
	Chart           string            // name of the source of the chart, in the same namespace
	FromGit         bool              // chart and values files from a GitRepository; else from an OCIRepository
	ValuesFrom      []ValuesReference // in the order in which they are merged
	ValueFiles      []string          // of the chart, only with FromGit
	Values          map[string]any    // last: what cluster-init itself decides
}

// ValuesReference names a ConfigMap or a Secret whose key values.yaml is merged into the values.
type ValuesReference struct{ Kind, Name string }

// HelmRelease returns the HelmRelease.
func HelmRelease(r Release) (*helmv2.HelmRelease, error) {
	values, err := json.Marshal(r.Values)
	if err != nil {
		return nil, fmt.Errorf("encoding the values of the HelmRelease %s: %w", ReleaseName, err)
	}
	hr := &helmv2.HelmRelease{
		ObjectMeta: metav1.ObjectMeta{Name: cmp.Or(r.Name, ReleaseName),
			Namespace: cmp.Or(r.Namespace, Namespace)},
		Spec: helmv2.HelmReleaseSpec{
			Interval:    metav1.Duration{Duration: 10 * time.Minute},
			ReleaseName: cmp.Or(r.Name, ReleaseName),
			Values:      &apiextensionsv1.JSON{Raw: values},
			// The Kustomizations are watched individually: Helm's own wait would only hide which one is stuck.
			Install: &helmv2.Install{DisableWait: true, Remediation: &helmv2.InstallRemediation{Retries: 3}},
			Upgrade: &helmv2.Upgrade{DisableWait: true, Remediation: &helmv2.UpgradeRemediation{Retries: 3}},
		},
	}
	if r.FromGit {
		hr.Spec.Chart = &helmv2.HelmChartTemplate{Spec: helmv2.HelmChartTemplateSpec{
			Chart:             "./charts/" + ReleaseName,
			ReconcileStrategy: sourcev1.ReconcileStrategyRevision,
			ValuesFiles:       r.ValueFiles,
			SourceRef: helmv2.CrossNamespaceObjectReference{Kind: sourcev1.GitRepositoryKind,
				Name: cmp.Or(r.Chart, ReleaseName)},
		}}
	} else {
		hr.Spec.ChartRef = &helmv2.CrossNamespaceSourceReference{Kind: sourcev1.OCIRepositoryKind,
			Name: cmp.Or(r.Chart, ChartSourceName)}
	}
	for _, ref := range r.ValuesFrom {
		hr.Spec.ValuesFrom = append(hr.Spec.ValuesFrom, meta.ValuesReference{Kind: ref.Kind, Name: ref.Name,
			ValuesKey: "values.yaml"})
	}
	return hr, nil
}
