package source

import (
	"maps"
	"slices"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/sshgit"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Whatever a Git source is read with, Flux gets it in one Secret, and only what it needs.
func TestCredentialsOfAGitSource(t *testing.T) {
	s := sshgit.Start(t, t.TempDir())
	key, err := ReadSSHKey(s.EncryptedKey, s.KnownHosts, s.Passphrase)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		source Source
		keys   []string
	}{
		"none":     {Source{}, nil},
		"password": {Source{Username: "me", Password: "token"}, []string{"password", "username"}},
		"ssh":      {Source{SSH: key}, []string{"identity", "identity.pub", "known_hosts", "password"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.source.Kind, test.source.Git = Git, flux.GitSource{URL: "ssh://git@host/repo.git", Branch: "main"}
			var keys []string
			var repository *sourcev1.GitRepository
			for _, object := range test.source.Objects(content.Published{}) {
				switch o := object.(type) {
				case *corev1.Secret:
					keys = sorted(o.Data)
				case *sourcev1.GitRepository:
					repository = o
				}
			}
			if diff := cmp.Diff(test.keys, keys); diff != "" {
				t.Errorf("Secret (-want +got):\n%s", diff)
			}
			if repository == nil || (repository.Spec.SecretRef != nil) != (test.keys != nil) {
				t.Errorf("the GitRepository does not refer to it: %+v", repository)
			}
		})
	}
}

func sorted(data map[string][]byte) []string { return slices.Sorted(maps.Keys(data)) }

// A candidate is read with credentials of its own: those of the release's source belong to the host that it is read
// from.
func TestACandidateTouchesNothingOfTheRelease(t *testing.T) {
	s := Source{Kind: Git, Git: flux.GitSource{URL: "https://git.example.org/platform.git", Commit: "c"},
		Password: "token"}
	release, candidate := s.Objects(content.Published{}), s.Candidate()
	if len(release) != 2 || len(candidate) != 2 {
		t.Fatalf("%d objects, %d of the candidate", len(release), len(candidate))
	}
	for i, o := range candidate {
		if o.GetName() != CandidateName || release[i].GetName() == CandidateName || o.GetNamespace() != flux.Namespace {
			t.Errorf("%T %s/%s in place of %s", o, o.GetNamespace(), o.GetName(), release[i].GetName())
		}
	}
	was, is := release[1].(*sourcev1.GitRepository), candidate[1].(*sourcev1.GitRepository)
	if is.Spec.SecretRef == nil || is.Spec.SecretRef.Name != CandidateName || was.Spec.SecretRef.Name != secretName {
		t.Errorf("it refers to %+v, the release to %+v", is.Spec.SecretRef, was.Spec.SecretRef)
	}
	is.Spec.SecretRef, was.Spec.SecretRef = nil, nil
	if diff := cmp.Diff(was.Spec, is.Spec); diff != "" {
		t.Errorf("it fetches something else (-release +candidate):\n%s", diff)
	}
	for _, other := range []Kind{Embedded, OCI} {
		if got := (Source{Kind: other}).Candidate(); got != nil {
			t.Errorf("%s: %v", other, got)
		}
	}
}
