package pivot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// cutOffWhileDeleting begins a pivot that copies everything and dies after the deletion of the last gone objects at the
// source.
func cutOffWhileDeleting(t *testing.T, r *rehearsal, gone int) {
	t.Helper()
	move := r.Move
	r.Move = func(ctx context.Context, _ capi.MoveInput) error {
		objects := fixture.ManagementCluster()
		err := errors.Join(
			r.Source.Client.Patch(ctx, inNamespace(objects[0]),
				client.RawPatch(types.MergePatchType,
					[]byte(
						`{"metadata":{"annotations":{"cluster-init.io/pivot":"management/mgmt"}},"spec":{"paused":true}}`))),
			fixture.Create(ctx, r.Target.Client, fixture.Namespace, fixture.ManagementCluster(), paused))
		for _, u := range objects[len(objects)-gone:] {
			release := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			err = errors.Join(err, r.Source.Client.Patch(ctx, inNamespace(u), release), r.Source.Client.Delete(ctx, u))
		}
		return errors.Join(err, errors.New("truncated"))
	}
	if _, err := pivot.Run(t.Context(), r.Input); fault.CodeOf(err) != fault.PivotFailed {
		t.Fatal(err)
	}
	r.Move, r.flux.stands = move, true
}

func patchSource(t *testing.T, r *rehearsal, kind, name, patch string) {
	t.Helper()
	if err := r.Source.Client.Patch(t.Context(), inNamespace(fixture.One(kind, name)[0]),
		client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// TestFinish: what the target has of its own, and what changed at the source before it was copied, stops no finish; a
// difference does.
func TestFinish(t *testing.T) {
	const more = `{"spec":{"replicas":5}}`
	all := len(fixture.ManagementCluster())
	for name, tc := range map[string]struct {
		world func(*testing.T, *rehearsal)
		want  string
		gone  int // objects that are deleted at the source; 0: four
	}{
		"nothing else": {world: func(*testing.T, *rehearsal) {}},
		"all deleted":  {world: func(*testing.T, *rehearsal) {}, gone: all},
		"all deleted, another machine": {world: func(t *testing.T,
			r *rehearsal) {
			mark(t, r, "management/mgmt")
			elsewhere(t, r)
		}, gone: all},
		"most deleted, another machine": {world: func(t *testing.T,
			r *rehearsal) {
			mark(t, r, "management/mgmt")
			elsewhere(t, r)
		}},
		"all deleted, paused by a person": {world: resumedAndPaused, gone: all,
			want: "without the mark of the move"},
		"all deleted, a mark of another move": {world: func(t *testing.T,
			r *rehearsal) {
			mark(t, r, "management/other")
			elsewhere(t, r)
		}, gone: all, want: "without the mark of the move"},
		"the source changed between its backup and its pause": {world: func(t *testing.T, r *rehearsal) {
			patchSource(t, r, "KubeadmControlPlane", "mgmt-cp", more)
			patchTarget(t, r, "KubeadmControlPlane", "mgmt-cp", more)
		}},
		"the target differs from what is left at the source": {world: func(t *testing.T, r *rehearsal) {
			patchTarget(t, r, "KubeadmControlPlane", "mgmt-cp", more)
		}, want: "KubeadmControlPlane management/mgmt-cp has another spec"},
		"the target differs from what was backed up": {world: func(t *testing.T, r *rehearsal) {
			patchTarget(t, r, "ConfigMap", "mgmt-load-balancer", `{"data":{"value":"hunter2"}}`)
		}, want: "ConfigMap management/mgmt-load-balancer has another data"},
		"the target has an active tenant": {world: func(t *testing.T, r *rehearsal) {
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, oneOf(tenant())))
		}},
		"the target has credentials of its own": {world: func(t *testing.T, r *rehearsal) {
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, oneOf(tenantSecret())))
		}},
		"a record of an earlier life": {world: func(t *testing.T, r *rehearsal) {
			recordOfAnotherLife(t, r)
			patchTarget(t, r, "ConfigMap", "mgmt-load-balancer", `{"data":{"value":"of the new life"}}`)
		}},
		"a record that was truncated": {world: func(t *testing.T, r *rehearsal) {
			must(t, os.Truncate(unverified(t, r)+".unverified", 30))
		}, want: ".unverified was truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			cutOffWhileDeleting(t, r, cmp.Or(tc.gone, 4))
			tc.world(t, r)
			before := snapshot(t, r)
			_, err := pivot.Run(t.Context(), r.Input)
			if tc.want != "" {
				if after := snapshot(t, r); after != before || !strings.Contains(before, "target Cluster mgmt paused") {
					t.Errorf("it was refused, and both sides were\n%s\nand are\n%s", before, after)
				}
				if fault.CodeOf(err) != fault.PivotFailed || !strings.Contains(err.Error(), tc.want) ||
					strings.Contains(err.Error(), "hunter2") {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				return
			}
			state, stateErr := pivot.ReadState(t.Context(), r.Source, r.Target, scope)
			if err != nil || stateErr != nil || state.Phase != pivot.Done || !state.Source.Empty() ||
				unverified(t, r) != "" {
				t.Errorf("got %v, %v; it is %s with %d objects at the source", err, stateErr, state.Phase,
					len(state.Source.Objects))
			}
			if after := snapshot(t, r); strings.Contains(after, "moved paused") ||
				strings.Contains(after, "mgmt paused") || strings.Count(after, " paused") != strings.Count(
				before, "tenant paused") || strings.Contains(after, "marked") {
				t.Errorf("it ends with\n%s", after)
			}
		})
	}
}

// mark puts the target into the state that a truncated move leaves: everything that it moved is marked. A Cluster that
// a person paused is not.
func mark(t *testing.T, r *rehearsal, value string) {
	t.Helper()
	class, _ := fixture.Class()
	class.SetName("moved")
	class.SetAnnotations(map[string]string{"cluster.x-k8s.io/paused": ""})
	must(t, r.Target.Client.Create(t.Context(), fixture.CRDOf(fixture.ClassKind)))
	moved := tenant()
	moved.SetName("moved")
	must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, []*unstructured.Unstructured{class, moved,
		tenant()}, tenantPaused,
		fixture.Set("Cluster", "moved", true, "spec", "paused")))
	for _, u := range []*unstructured.Unstructured{class, moved, fixture.One("Cluster", "mgmt")[0]} {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"cluster-init.io/pivot":"`+
			value+`"}}}`))
		must(t, r.Target.Client.Patch(t.Context(), inNamespace(u), patch))
	}
}

// resumedAndPaused is what a move leaves that has resumed the Cluster, and a person who paused it then.
func resumedAndPaused(t *testing.T, r *rehearsal) {
	t.Helper()
	patchTarget(t, r, "Cluster", "mgmt", `{"metadata":{"annotations":{"cluster-init.io/pivot":null}}}`)
}

func gvkOf(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: kind}
}

// elsewhere resumes on another machine, which has no backup.
func elsewhere(t *testing.T, r *rehearsal) {
	t.Helper()
	r.BackupDir = t.TempDir()
}

// snapshot is what both sides hold: every object with its version, and what is paused.
func snapshot(t *testing.T, r *rehearsal) string {
	t.Helper()
	b := &strings.Builder{}
	for i, side := range []clusters.Side{r.Source, r.Target} {
		name := []string{"source", "target"}[i]
		for _, gvk := range append(fixture.Kinds(), fixture.ClassKind, gvkOf("Secret"), gvkOf("ConfigMap")) {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(gvk)
			must(t, side.Client.List(t.Context(), list, client.InNamespace(fixture.Namespace)))
			for _, u := range list.Items {
				fmt.Fprintf(b, "%s %s %s", name, u.GetKind(), u.GetName())
				paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
				if _, annotated := u.GetAnnotations()["cluster.x-k8s.io/paused"]; paused || annotated {
					b.WriteString(" paused")
				}
				if _, marked := u.GetAnnotations()["cluster-init.io/pivot"]; marked {
					b.WriteString(" marked")
				}
				fmt.Fprintf(b, " %s\n", u.GetResourceVersion())
			}
		}
	}
	return b.String()
}

// recordOfAnotherLife has the record be of a cluster with another certificate authority.
func recordOfAnotherLife(t *testing.T, r *rehearsal) {
	t.Helper()
	path := unverified(t, r) + ".unverified"
	text, err := os.ReadFile(path)
	must(t, err)
	i := strings.Index(string(text), `"sha256:`) + len(`"sha256:`)
	must(t, os.WriteFile(path, []byte(string(text[:i])+strings.Repeat("0", 64)+string(text[i+64:])), 0o600))
}

// A move that ends well is not spoiled by what tenants have on the target.
func TestTenantsOfTheTargetAreNotVerified(t *testing.T) {
	r := rehearse(t)
	orphan := tenantSecret()
	orphan.SetOwnerReferences(fixture.One("Secret", "mgmt-kubeconfig")[0].GetOwnerReferences())
	orphan.SetNamespace(fixture.Namespace)
	must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, oneOf(tenant()), tenantPaused))
	refs := orphan.GetOwnerReferences()
	refs[0].UID = "somebody-who-is-gone"
	orphan.SetOwnerReferences(refs)
	must(t, r.Target.Client.Create(t.Context(), orphan))
	if _, err := pivot.Run(t.Context(), r.Input); err != nil {
		t.Error(err)
	}
}

// An encrypted backup shows nothing, and an interrupted move is finished with it all the same.
func TestAnInterruptedMoveIsFinishedWithAnEncryptedBackup(t *testing.T) {
	for name, patch := range map[string]string{"as it was": `{}`, "changed": `{"data":{"value":"hunter2"}}`} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			r.Recipients = recipient(t)
			cutOffWhileDeleting(t, r, 4)
			kept := unverified(t, r)
			if filepath.Ext(kept) != ".age" {
				t.Fatalf("the backup is %q", kept)
			}
			for _, path := range []string{kept, strings.TrimSuffix(kept, ".tar.age") + ".unverified"} {
				text, err := os.ReadFile(path)
				must(t, err)
				info, err := os.Stat(path)
				if err != nil || info.Mode() != 0o600 || strings.Contains(string(text), "the-credentials") ||
					strings.Contains(string(text), "the-template") {
					t.Errorf("%s: %v, %v, or it shows what it holds", path, info.Mode(), err)
				}
			}
			patchTarget(t, r, "ConfigMap", "mgmt-load-balancer", patch)
			_, err := pivot.Run(t.Context(), r.Input)
			if (name == "changed") != (fault.CodeOf(err) == fault.PivotFailed) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// Wherever a finish is killed, the next run must see that something of the Cluster is gone: what belongs to no Cluster
// goes after that.
func TestAFinishDeletesInTheOrderOfAMove(t *testing.T) {
	r := rehearse(t)
	cutOffWhileDeleting(t, r, 4)
	must(t, fixture.Create(t.Context(), r.Source.Client, fixture.Namespace,
		fixture.One("ConfigMap", "mgmt-load-balancer")))
	inner := r.Source.Client.(client.WithWatch)
	var order []string
	r.Source.Client = interceptor.NewClient(
		inner, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object,
			opts ...client.DeleteOption) error {
			order = append(order, o.GetName())
			return c.Delete(ctx, o, opts...)
		}})
	if _, err := pivot.Run(t.Context(), r.Input); err != nil {
		t.Fatal(err)
	}
	if last := len(order) - 2; last < 5 || order[last] != "mgmt-load-balancer" || order[last+1] != fixture.Cluster {
		t.Errorf("deleted in the order %v", order)
	}
}
