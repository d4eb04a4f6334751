package bootstrap

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// SourceKind says where Flux reads the chart and the components from.
type SourceKind string

// The kinds of source.
const (
	SourceEmbedded SourceKind = "embedded" // this binary's own content, in a registry container beside the clusters
	SourceGit      SourceKind = "git"      // a commit of a Git repository
	SourceOCI      SourceKind = "oci"      // the user's own registry
)

// Source is where Flux reads from. Only the fields of its Kind are set.
type Source struct {
	Kind     SourceKind
	Git      flux.GitSource
	Content  flux.OCIArtifact
	Chart    flux.OCIArtifact
	Username string // for Git or OCI, ends in a Secret
	Password string
	SSH      *source.SSHKey // for Git over ssh, in place of both
	// DockerConfig is a ~/.docker/config.json with the one registry of an OCI source; empty: anonymous.
	DockerConfig []byte
}

const sourceSecretName = flux.ReleaseName + "-source"

// published names what the registry holds for Flux.
type published struct {
	content, chart flux.OCIArtifact
}

// sourceObjects returns the sources, and the Secret that they need.
func (u *Up) sourceObjects() []client.Object {
	switch u.Source.Kind {
	case SourceGit:
		git := u.Source.Git
		objects := []client.Object{}
		if u.Source.SSH != nil {
			git.SecretName = sourceSecretName
			objects = append(objects, secret(corev1.SecretTypeOpaque, u.Source.SSH.SecretData()))
		} else if u.Source.Username != "" || u.Source.Password != "" {
			git.SecretName = sourceSecretName
			objects = append(objects, secret(corev1.SecretTypeOpaque, map[string]string{"username": u.Source.Username, "password": u.Source.Password}))
		}
		return append(objects, flux.GitRepository(git))
	case SourceOCI:
		content, chart := u.Source.Content, u.Source.Chart
		objects := []client.Object{}
		if len(u.Source.DockerConfig) > 0 {
			content.SecretName, chart.SecretName = sourceSecretName, sourceSecretName
			objects = append(objects, secret(corev1.SecretTypeDockerConfigJson, map[string]string{corev1.DockerConfigJsonKey: string(u.Source.DockerConfig)}))
		}
		return append(objects, flux.ContentSource(content), flux.ChartSource(chart))
	default:
		return []client.Object{flux.ContentSource(u.found.published.content), flux.ChartSource(u.found.published.chart)}
	}
}

// secret returns the source's Secret. It sets data, as server-side apply does not take back what stringData once set.
func secret(kind corev1.SecretType, text map[string]string) client.Object {
	data := map[string][]byte{}
	for name, value := range text {
		data[name] = []byte(value)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: sourceSecretName, Namespace: flux.Namespace},
		Type:       kind,
		Data:       data,
	}
}

// sourceValues tells the chart what its Kustomizations read from.
func (u *Up) sourceValues() map[string]any {
	kind := "OCIRepository"
	if u.Source.Kind == SourceGit {
		kind = "GitRepository"
	}
	return map[string]any{"kind": kind, "name": flux.ReleaseName}
}

// revision is a part of the revision that Flux must have applied before a component counts as ready; empty when only
// the source itself knows which one is the present one, as that of a branch.
func (u *Up) revision() string {
	switch u.Source.Kind {
	case SourceGit:
		return u.Source.Git.Commit
	case SourceOCI:
		return u.Source.Content.Tag
	default:
		return u.found.published.content.Digest
	}
}
