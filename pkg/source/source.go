// Package source is where Flux reads the chart and the components from: this binary's own content, a Git repository or
// a registry. It checks that the user's own source can be read, holds its credentials, and makes Flux's objects.
package source

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Kind is the kind of source that Flux reads the chart and the components from.
type Kind string

// The kinds of source.
const (
	Embedded Kind = "embedded" // this binary's own content, in a registry container next to the clusters
	Git      Kind = "git"      // a commit, branch, tag or range of versions of a Git repository
	OCI      Kind = "oci"      // the user's own registry
)

// Source is where Flux reads from. Only the fields of its Kind are set.
type Source struct {
	Kind     Kind
	Git      flux.GitSource
	Content  flux.OCIArtifact
	Chart    flux.OCIArtifact
	Username string // for Git over HTTP, stored in a Secret
	Password string
	SSH      *SSHKey // for Git over ssh, instead of both
	// CA are additional certificates (PEM) that may sign the server's. Empty means only the usual ones.
	CA []byte
	// DockerConfig is a ~/.docker/config.json with the one registry of an OCI source. Empty means anonymous.
	DockerConfig []byte
	// Notes are further Warnings.
	Notes []string
}

const (
	secretName   = flux.ReleaseName + "-source"
	caSecretName = secretName + "-ca"
	caKey        = "ca.crt" // as Flux reads it
)

// httpSecret is the Secret data with which Flux reaches a Git server over HTTP.
func (s Source) httpSecret() map[string]string {
	data := map[string]string{}
	if s.Password != "" {
		data["username"], data["password"] = s.Username, s.Password
	}
	if len(s.CA) > 0 {
		data[caKey] = string(s.CA)
	}
	return data
}

// Objects returns Flux's sources and the Secrets that they need. published is the content of an Embedded source.
func (s Source) Objects(published content.Published) []client.Object {
	switch s.Kind {
	case Git:
		return s.gitObjects(flux.ReleaseName, secretName)
	case OCI:
		content, chart := s.Content, s.Chart
		objects := []client.Object{}
		if len(s.DockerConfig) > 0 {
			content.SecretName, chart.SecretName = secretName, secretName
			objects = append(objects, secret(corev1.SecretTypeDockerConfigJson,
				map[string]string{corev1.DockerConfigJsonKey: string(s.DockerConfig)}))
		}
		if len(s.CA) > 0 {
			content.CASecretName, chart.CASecretName = caSecretName, caSecretName
			ca := secret(corev1.SecretTypeOpaque, map[string]string{caKey: string(s.CA)})
			ca.SetName(caSecretName)
			objects = append(objects, ca)
		}
		return append(objects, flux.ContentSource(content), flux.ChartSource(chart))
	default:
		return []client.Object{flux.ContentSource(inRegistry(published.Content)),
			flux.ChartSource(inRegistry(published.Chart))}
	}
}

// CandidateName is the name of a candidate's GitRepository and of its Secret.
const CandidateName = flux.ReleaseName + "-candidate"

// Candidate returns the objects with which Flux fetches a Git source under separate names, the GitRepository last: no
// object of the release reads from it, and the credentials of the release's source stay as they are. Nil for another
// kind of source.
func (s Source) Candidate() []client.Object {
	if s.Kind != Git {
		return nil
	}
	return s.gitObjects(CandidateName, CandidateName)
}

// gitObjects returns the GitRepository of a Git source, last, and the Secret that it needs, if any.
func (s Source) gitObjects(name, secretName string) []client.Object {
	git, objects := s.Git, []client.Object{}
	data := s.httpSecret()
	if s.SSH != nil {
		data = s.SSH.SecretData()
	}
	if len(data) > 0 {
		git.SecretName = secretName
		login := secret(corev1.SecretTypeOpaque, data)
		login.SetName(secretName)
		objects = append(objects, login)
	}
	repository := flux.GitRepository(git)
	repository.SetName(name)
	return append(objects, repository)
}

// inRegistry names an artifact in the registry next to the clusters, which speaks plain HTTP.
func inRegistry(a oci.Artifact) flux.OCIArtifact {
	return flux.OCIArtifact{URL: a.URL(), Digest: a.Digest, Insecure: true}
}

// secret returns the source's Secret. It sets data: server-side apply does not remove what stringData once set.
func secret(kind corev1.SecretType, text map[string]string) client.Object {
	data := map[string][]byte{}
	for name, value := range text {
		data[name] = []byte(value)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: secretName, Namespace: flux.Namespace},
		Type:       kind,
		Data:       data,
	}
}

// Values are the chart values that name the source of the Kustomizations.
func (s Source) Values() map[string]any {
	kind := "OCIRepository"
	if s.Kind == Git {
		kind = "GitRepository"
	}
	return map[string]any{"kind": kind, "name": flux.ReleaseName}
}

// Revision is a part of the revision that Flux must have applied before a component counts as ready. It is empty if
// only the source itself knows the current one, as for a branch.
func (s Source) Revision(published content.Published) string {
	switch s.Kind {
	case Git:
		if s.Git.Tag != "" {
			return s.Git.Tag + "@"
		}
		return s.Git.Commit
	case OCI:
		return cmp.Or(s.Content.Digest, s.Content.Tag)
	default:
		return published.Content.Digest
	}
}

// Warnings are what the user should know about what is read from the source, and how it is reached.
func (s Source) Warnings() []string {
	warnings := slices.Clone(s.Notes)
	switch {
	case s.Kind == Git && strings.HasPrefix(s.Git.URL, "http://") && s.Password != "":
		return append(warnings,
			"the source is read over http: anyone in between can read the credentials and change what is installed")
	case s.Kind == Git && strings.HasPrefix(s.Git.URL, "http://"), s.Kind == OCI && s.Content.Insecure:
		return append(warnings, "the source is read over http: anyone in between can change what is installed")
	}
	return warnings
}

// Credentials returns all secrets of the source by names that package redact can use.
func (s Source) Credentials() map[string]string {
	secrets := map[string]string{"password": s.Password, "auths": string(s.DockerConfig)}
	if s.SSH != nil {
		secrets["identity"], secrets["passphrase"] = string(s.SSH.Identity), string(s.SSH.Passphrase)
	}
	return secrets
}
