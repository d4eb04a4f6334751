//go:build integration

package pivot_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// savedStage is a management cluster of three and three machines that was backed up, and another one to restore it
// into: the source of a stage is the one that the backup is of, and answers by the kubeconfig in it.
type savedStage struct {
	*stage
	restore.Input
}

// newSavedStage has the old cluster's kubeconfig in the backup of some objects; "" stands for that of the source.
func newSavedStage(t *testing.T, objects []*unstructured.Unstructured, kubeconfig string) *savedStage {
	t.Helper()
	var former []restore.Former
	if kubeconfig == "" { // the state folder has it, too: without that the backup's own word does not count
		kubeconfig = string(servers.source.Kubeconfig())
		former = []restore.Former{{Path: "kubeconfig", Content: servers.source.Kubeconfig()}}
	}
	s := &savedStage{stage: newStageOf(t, objects, fixture.Set("Secret", "mgmt-kubeconfig", kubeconfig, "stringData",
		"value"),
		fixture.Unset("Secret", "cloud-credentials", "metadata", "labels"))}
	kept, err := pivot.Keeper{Dir: s.BackupDir, Version: "v1", Now: s.Now}.Keep(t.Context(), s.Source, s.Scope,
		pivot.Extent{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := backup.Open(kept.Path, backup.Identities{})
	if err != nil {
		t.Fatal(err)
	}
	s.Input = restore.Input{Backup: b, Path: kept.Path, Target: s.stage.Target,
		TargetKubeconfig: servers.target.Kubeconfig(), Restore: capi.Restore,
		Former: former, Log: s.stage.Log}
	return s
}

// silentKubeconfig is that of a cluster which does not answer.
func silentKubeconfig() string {
	return regexp.MustCompile(`server: \S+`).ReplaceAllString(string(servers.source.Kubeconfig()),
		"server: https://127.0.0.1:1")
}

// lose takes all that the source has of the definitions, or what it has in one of the given namespaces.
func (s *savedStage) lose(namespaces ...string) {
	s.t.Helper()
	for _, u := range s.Backup.Section(backup.Objects) {
		if len(namespaces) > 0 && !slices.Contains(namespaces, u.GetNamespace()) {
			continue
		}
		u = u.DeepCopy()
		if len(u.GetFinalizers()) > 0 {
			if err := s.Source.Client.Patch(s.t.Context(), u.DeepCopy(),
				client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
				s.t.Fatal(err)
			}
		}
		if err := s.Source.Client.Delete(s.t.Context(),
			&unstructured.Unstructured{Object: map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(),
				"metadata": map[string]any{"namespace": u.GetNamespace(), "name": u.GetName()}}}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// checkRestored holds the target against the backup: everything once, as it was, owned by what is there, and active.
func checkRestored(t *testing.T, b *backup.Backup) {
	t.Helper()
	uids := map[string]types.UID{}
	got := map[string]*unstructured.Unstructured{}
	name := func(kind, name string) string { return kind + " " + name }
	for _, want := range b.Section(backup.Objects) {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(want.GroupVersionKind())
		if err := servers.target.Client.Get(t.Context(), client.ObjectKeyFromObject(want), u); err != nil {
			t.Error(err)
			continue
		}
		got[name(u.GetKind(), u.GetName())], uids[name(u.GetKind(), u.GetName())] = u, u.GetUID()
		if u.GetUID() == want.GetUID() || u.GetDeletionTimestamp() != nil {
			t.Errorf("%s %s has the UID of another life, or is being deleted", u.GetKind(), u.GetName())
		}
		delete(want.Object, "metadata")
		unstructured.RemoveNestedField(want.Object, "spec", "paused")
		is := u.DeepCopy()
		delete(is.Object, "metadata")
		if !sameContent(want, is) {
			t.Errorf("%s %s is not as it was", u.GetKind(), u.GetName())
		}
	}
	for key, u := range got {
		if value, is := u.GetAnnotations()["cluster.x-k8s.io/paused"]; is {
			t.Errorf("%s is paused: %q", key, value)
		}
		for _, owner := range u.GetOwnerReferences() {
			if owner.UID != uids[name(owner.Kind, owner.Name)] {
				t.Errorf("%s is owned by %s, which is not there with that UID", key, owner.Name)
			}
		}
	}
}

func sameContent(a, b *unstructured.Unstructured) bool {
	one, oneErr := a.MarshalJSON()
	other, otherErr := b.MarshalJSON()
	return oneErr == nil && otherErr == nil && string(one) == string(other)
}

func TestRestoreForReal(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := newSavedStage(t, grown(), "")
	s.lose()
	// a definition of its own
	if err := fixture.Create(t.Context(), s.stage.Target.Client, s.Scope.Namespace, oneOf(tenant())); err != nil {
		t.Fatal(err)
	}
	result, err := restore.Run(t.Context(), s.Input)
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(s.lines, "\n"))
	}
	if len(result.Clusters) != 1 || result.Objects != len(grown())-1 || len(result.References) != 1 ||
		len(result.Warnings) != 0 {
		t.Errorf("got %+v", result)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left on the disk: %v, %v", left, err)
	}
	if again, err := restore.Run(t.Context(), s.Input); err != nil || !again.Already {
		t.Errorf("again: %+v, %v", again, err)
	}
	checkRestored(t, s.Backup)
}

// What is in memory of an encrypted backup goes to clusterctl through a pipe: no file ever has it.
func TestARestoreWritesNoFile(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := newSavedStage(t, grown(), silentKubeconfig())
	s.Force = true
	s.encrypt()
	to := rest.CopyConfig(s.stage.Target.Config)
	var seen atomic.Int64
	to.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return lookingAt(func(r *http.Request) (*http.Response, error) {
			_ = filepath.WalkDir(temporary, func(path string, e os.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					t.Errorf("%s is a file", path)
				}
				if err == nil && e.Type()&os.ModeNamedPipe != 0 {
					seen.Add(1)
				}
				return nil
			})
			return next.RoundTrip(r)
		})
	})
	s.Input.Target.Config = to
	if _, err := restore.Run(t.Context(), s.Input); err != nil || seen.Load() == 0 {
		t.Errorf("%v; the pipe was seen %d times", err, seen.Load())
	}
}

// encrypt has the backup be one that is encrypted.
func (s *savedStage) encrypt() {
	s.t.Helper()
	key, err := age.GenerateX25519Identity()
	must(s.t, err)
	file := filepath.Join(s.t.TempDir(), "key")
	must(s.t, os.WriteFile(file, []byte(key.String()+"\n"), 0o600))
	recipients, err := backup.ParseRecipients("--recipient", []string{key.Recipient().String()})
	must(s.t, err)
	kept, err := pivot.Keeper{Dir: s.BackupDir, Version: "v1", Now: s.Now, Recipients: recipients}.Keep(
		s.t.Context(), s.Source, s.Scope, pivot.Extent{})
	must(s.t, err)
	s.Path = kept.Path
	ids, err := backup.ReadIdentities(file)
	must(s.t, err)
	s.Backup, err = backup.Open(s.Path, ids)
	must(s.t, err)
}

type lookingAt func(*http.Request) (*http.Response, error)

func (f lookingAt) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An API server that fails the read of an owner which exists makes clusterctl take its creation, which fails too, for
// success: what it creates then has an owner that does not exist, and is deleted as garbage.
func TestAnOwnerThatCannotBeReadForAMoment(t *testing.T) {
	s := newSavedStage(t, grown(), silentKubeconfig())
	s.Force = true
	s.Restore = func(ctx context.Context, in capi.RestoreInput) error { // an earlier run has created the Cluster
		for i, u := range in.Objects {
			if u.GetKind() != "Cluster" {
				in.Objects[i] = nil
			}
		}
		return capi.Restore(ctx, capi.RestoreInput{To: in.To, Objects: compact(in.Objects)})
	}
	if _, err := restore.Run(t.Context(), s.Input); fault.CodeOf(err) != fault.RestoreFailed {
		t.Fatal(err)
	}
	var failed atomic.Bool
	to := rest.CopyConfig(s.stage.Target.Config)
	to.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return lookingAt(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, s.Scope.Namespace+"/clusters/mgmt") &&
				!failed.Swap(true) {
				return unavailableNow(r), nil
			}
			return next.RoundTrip(r)
		})
	})
	s.Restore = func(ctx context.Context, in capi.RestoreInput) error {
		in.To = to
		return capi.Restore(ctx, in)
	}
	if _, err := restore.Run(t.Context(), s.Input); err != nil || !failed.Load() {
		t.Errorf("%v; the read failed: %t", err, failed.Load())
	}
	checkRestored(t, s.Backup)
}

func compact(all []*unstructured.Unstructured) []*unstructured.Unstructured {
	var kept []*unstructured.Unstructured
	for _, u := range all {
		if u != nil {
			kept = append(kept, u)
		}
	}
	return kept
}

// The state of the marks while a restore is interrupted by an interrupt is that of a kill: nothing acts.
func TestAnInterruptedRestoreActsOnNothing(t *testing.T) {
	s := newSavedStage(t, grown(), silentKubeconfig())
	s.Force = true
	ctx, interrupt := context.WithTimeout(t.Context(), time.Minute)
	defer interrupt()
	s.Restore = func(ctx context.Context, in capi.RestoreInput) error {
		to := rest.CopyConfig(in.To)
		var created atomic.Int64
		to.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return lookingAt(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost && created.Add(1) == 20 {
					interrupt()
				}
				return next.RoundTrip(r)
			})
		})
		in.To = to
		return capi.Restore(ctx, in)
	}
	if _, err := restore.Run(ctx, s.Input); fault.CodeOf(err) != fault.RestoreFailed || !fault.CanRetry(err) {
		t.Errorf("got %v", err)
	}
	clusters, err := capi.Clusters(t.Context(), s.stage.Target.Client, s.Scope.Namespace)
	if err != nil || len(clusters) != 1 || clusters[0].Annotations["cluster.x-k8s.io/paused"] != owned.RestoringMark {
		t.Errorf("%+v, %v", clusters, err)
	}
	s.Restore = capi.Restore
	if _, err := restore.Run(t.Context(), s.Input); err != nil {
		t.Error(err)
	}
	checkRestored(t, s.Backup)
}
