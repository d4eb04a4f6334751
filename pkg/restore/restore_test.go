package restore_test

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

type (
	object         = unstructured.Unstructured
	ownerReference = metav1.OwnerReference
)

var errWebhook = errors.New(`failed calling webhook "x"`)

func kubeconfigSecret(text string) fixture.Edit {
	return fixture.Set("Secret", "mgmt-kubeconfig", base64.StdEncoding.EncodeToString([]byte(text)), "data", "value")
}

func setImage(u *object, image string) {
	_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": "manager", "image": image}}, "spec",
		"template", "spec", "containers")
}

// creating fails what is tried out.
func creating(c client.Client, err error) client.Client {
	return interceptor.NewClient(c.(client.WithWatch),
		interceptor.Funcs{Create: func(ctx context.Context, inner client.WithWatch, o client.Object,
			opts ...client.CreateOption) error {
			if len(opts) > 0 {
				return err
			}
			return inner.Create(ctx, o, opts...)
		}})
}

// mark returns the value of the annotation that pauses an object; "none" without it.
func (r *restoring) mark(t *testing.T) string {
	t.Helper()
	value, is := r.get(t, "Cluster", "mgmt").GetAnnotations()["cluster.x-k8s.io/paused"]
	if !is {
		return "none"
	}
	return value
}

func TestARestoredClusterIsAsItWas(t *testing.T) {
	r := newRestoring(t, fixture.Set("Cluster", "mgmt", "Cluster-mgmt", "metadata", "annotations",
		owned.VerifiedAnnotation),
		fixture.Set("Cluster", "mgmt", `{"mgmt-cp-a":"x"}`, "metadata", "annotations", owned.MachinesAnnotation),
		fixture.Set("DevMachine", "mgmt-cp-a", "by a person", "metadata", "annotations", "cluster.x-k8s.io/paused"))
	r.Force = true
	result, err := restore.Run(t.Context(), r.Input)
	if err != nil {
		t.Fatal(err)
	}
	if result.Already || result.Objects != len(everything())-1 || len(result.Clusters) != 1 ||
		len(result.References) != 1 || result.References[0].Name != "cloud-credentials" {
		t.Errorf("got %+v", result)
	}
	r.get(t, "Secret", "cloud-credentials")
	own := r.get(t, "Cluster", "mgmt")
	if r.mark(t) != "none" || own.GetAnnotations()[owned.VerifiedAnnotation] != "" ||
		own.GetAnnotations()[owned.MachinesAnnotation] != "" {
		t.Errorf("the Cluster has %v", own.GetAnnotations())
	}
	if was := r.get(t, "DevMachine", "mgmt-cp-a").GetAnnotations()["cluster.x-k8s.io/paused"]; was != "by a person" {
		t.Errorf("what a person has paused is %q", was)
	}
	made := r.made
	again, err := restore.Run(t.Context(), r.Input)
	if err != nil || !again.Already || r.made != made {
		t.Errorf("again: %+v, %v, %d objects", again, err, r.made-made)
	}
	r.Force = false // a finished restore needs no confirmation
	if _, err := restore.Run(t.Context(), r.Input); err != nil {
		t.Errorf("again, with nobody's word: %v", err)
	}
	r.old = oldCluster(t, onlyCluster())
	if _, err := restore.Run(t.Context(), r.Input); fault.CodeOf(err) != fault.RestoreRefused {
		t.Errorf("the old cluster is back: %v", err)
	}
}

// TestARestoreThatIsRunAgain: what an earlier run, and the target's life since, left.
func TestARestoreThatIsRunAgain(t *testing.T) {
	for name, tc := range map[string]struct {
		since  func(*testing.T, *restoring)
		want   string // of the error
		marked string
		made   int
	}{
		"interrupted while objects were created": {func(t *testing.T, r *restoring) {
			for _, u := range []*object{fixture.One("DevMachine", "mgmt-md-1-b")[0],
				fixture.One("Secret", "mgmt-md-1-b")[0]} {
				must(t, r.Target.Client.Patch(t.Context(), inNamespace(u),
					client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
				must(t, r.Target.Client.Delete(t.Context(), u))
			}
		}, "", "none", 2},
		"interrupted before the Clusters were resumed": {func(*testing.T, *restoring) {}, "", "none", 0},
		"something of it was changed": {func(t *testing.T, r *restoring) {
			r.patch(t, "KubeadmControlPlane", "mgmt-cp", `{"spec":{"replicas":5}}`)
		}, "KubeadmControlPlane management/mgmt-cp has another spec", owned.RestoringMark, 0},
		"it was resumed, and a machine was replaced": {func(t *testing.T, r *restoring) {
			r.patch(t, "Cluster", "mgmt", `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}`)
			must(t, r.Target.Client.Delete(t.Context(), inNamespace(fixture.One("KubeadmConfig", "mgmt-md-1-b")[0])))
		}, "", "none", 0},
		"it was resumed, and something of it is gone": {func(t *testing.T, r *restoring) {
			r.patch(t, "Cluster", "mgmt", `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}`)
			must(t, r.Target.Client.Delete(t.Context(), inNamespace(fixture.One("ConfigMap", "mgmt-load-balancer")[0])))
		}, "ConfigMap management/mgmt-load-balancer is missing", "none", 0},
		"it was resumed, and a person paused it": {func(t *testing.T, r *restoring) {
			r.patch(t, "Cluster", "mgmt", `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":"me"}}}`)
		}, "", "me", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRestoring(t)
			r.Force = true
			cut := r.Restore
			r.Restore = func(ctx context.Context, in capi.RestoreInput) error {
				return errors.Join(cut(ctx, in), errors.New("interrupted"))
			}
			if _, err := restore.Run(t.Context(), r.Input); fault.CodeOf(err) != fault.RestoreFailed ||
				!fault.CanRetry(err) {
				t.Fatalf("it was not interrupted: %v", err)
			}
			if mark := r.mark(t); mark != owned.RestoringMark {
				t.Fatalf("after the cut the Cluster is paused by %q", mark)
			}
			tc.since(t, r)
			r.Restore, r.made = cut, 0
			_, err := restore.Run(t.Context(), r.Input)
			if tc.want == "" && err != nil || tc.want != "" && (fault.CodeOf(err) != fault.RestoreRefused ||
				!strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if mark := r.mark(t); mark != tc.marked || r.made != tc.made {
				t.Errorf("the Cluster is paused by %q, %d objects were created; want %q, %d", mark, r.made, tc.marked,
					tc.made)
			}
		})
	}
}

// Nothing acts on the target while it is not as the backup, or while another cluster may act.
func TestWhatKeepsARestoredClusterPaused(t *testing.T) {
	for name, tc := range map[string]struct {
		world func(*testing.T, *restoring)
		code  fault.Code
		want  string
	}{
		"what arrived differs": {func(t *testing.T, r *restoring) {
			restore := r.Restore
			r.Restore = func(ctx context.Context, in capi.RestoreInput) error {
				err := restore(ctx, in)
				r.patch(t, "Secret", "mgmt-ca", `{"data":{"tls.key":"aHVudGVyMg=="}}`)
				return err
			}
		}, fault.RestoreFailed, "Secret management/mgmt-ca has another data"},
		"something did not arrive": {func(_ *testing.T, r *restoring) {
			r.Restore = func(ctx context.Context, in capi.RestoreInput) error {
				return r.createByHand(ctx,
					slices.DeleteFunc(in.Objects, func(u *object) bool { return u.GetName() == "mgmt-ca" }))
			}
		}, fault.RestoreFailed, "Secret management/mgmt-ca is missing"},
		"the old cluster comes back meanwhile": {func(t *testing.T, r *restoring) {
			restore := r.Restore
			r.Restore = func(ctx context.Context, in capi.RestoreInput) error {
				r.old = oldCluster(t, onlyCluster())
				return restore(ctx, in)
			}
		}, fault.RestoreRefused, "the Clusters stay paused on the target: the old management cluster mgmt at " +
			"https://192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRestoring(t)
			r.Force = true
			tc.world(t, r)
			_, err := restore.Run(t.Context(), r.Input)
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.want) ||
				strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %s %q", err, tc.code, tc.want)
			}
			if mark := r.mark(t); mark != owned.RestoringMark {
				t.Errorf("the Cluster is paused by %q", mark)
			}
		})
	}
}

// What the target has of its own is never overwritten, and what it does not take is said.
func TestReferencesOfTheTargetStay(t *testing.T) {
	r := newRestoring(t)
	r.Force = true
	must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, fixture.One("Secret", "cloud-credentials"),
		fixture.Set("Secret", "cloud-credentials", "of the target", "stringData", "clouds.yaml")))
	result, err := restore.Run(t.Context(), r.Input)
	warned := strings.Join(result.Warnings, "\n")
	if err != nil || len(result.References) > 0 || len(result.Warnings) != 1 ||
		!strings.Contains(warned, "Secret management/cloud-credentials, which the objects refer to, has another") {
		t.Errorf("got %+v, %v", result, err)
	}
	if is, _, _ := unstructured.NestedString(r.get(t, "Secret", "cloud-credentials").Object, "stringData",
		"clouds.yaml"); is != "of the target" {
		t.Errorf("the credentials are %q", is)
	}
}

// In a cluster whose API is gone no machine becomes healthy: a health check without a limit would replace all.
func TestHealthChecksWithoutALimit(t *testing.T) {
	limit := []string{"spec", "remediation", "triggerIf"}
	for name, tc := range map[string]struct {
		edit  fixture.Edit
		warns bool
	}{
		"a number": {fixture.Set("MachineHealthCheck", "mgmt-md", int64(1), append(limit,
			"unhealthyLessThanOrEqualTo")...), false},
		"a part": {fixture.Set("MachineHealthCheck", "mgmt-md", "40%", append(limit, "unhealthyLessThanOrEqualTo")...),
			false},
		"all": {fixture.Set("MachineHealthCheck", "mgmt-md", "100%", append(limit, "unhealthyLessThanOrEqualTo")...),
			true},
		"a range": {fixture.Set("MachineHealthCheck", "mgmt-md", "[1-9]", append(limit, "unhealthyInRange")...), true},
		"none":    {fixture.Unset("MachineHealthCheck", "mgmt-md", "spec", "remediation"), true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRestoring(t, tc.edit)
			r.Force = true
			result, err := restore.Run(t.Context(), r.Input)
			warned := strings.Join(result.Warnings, "\n")
			if err != nil || strings.Contains(warned, "MachineHealthCheck management/mgmt-md replaces machines") != tc.warns {
				t.Errorf("got %q, %v", warned, err)
			}
		})
	}
}

func TestAdoption(t *testing.T) {
	r := newRestoring(t)
	r.Force = true
	if _, err := restore.Run(t.Context(), r.Input); err != nil {
		t.Fatal(err)
	}
	look := func() restore.Adoption {
		t.Helper()
		a, err := restore.Adopt(t.Context(), r.Target, r.Backup)
		must(t, err)
		return a
	}
	if a := look(); len(a.Unmet) != 3 || !a.Waiting() { // a Cluster and two Machines without any status
		t.Errorf("after the restore: %+v", a)
	}
	made := fixture.One("Machine", "mgmt-md-1-b")
	made[0].SetName("mgmt-md-1-new")
	must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, made))
	for _, u := range everything() {
		if status, has := u.Object["status"]; has {
			is := r.get(t, u.GetKind(), u.GetName())
			is.Object["status"] = status
			must(t, r.Target.Client.Status().Update(t.Context(), is))
		}
	}
	if a := look(); len(a.Unmet) != 0 || a.Waiting() ||
		!slices.Equal(a.Made, []string{"Machine management/mgmt-md-1-new"}) || len(a.Gone) != 0 {
		t.Errorf("a machine was made: %+v", a)
	}
}

func TestABackupThatIsNoWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*backup.Backup, []*object)
		want string
	}{
		"an object without a UID": {func(_ *backup.Backup, all []*object) { all[0].SetUID("") },
			"Cluster management/mgmt in the backup has no UID"},
		"two objects of one UID": {func(_ *backup.Backup, all []*object) { all[1].SetUID(all[0].GetUID()) },
			"in the backup has the UID of another object"},
		"of another Cluster": {func(b *backup.Backup, _ []*object) { b.Manifest.Cluster = "other" },
			"the backup does not hold its own Cluster management/other"},
		"of another namespace": {func(b *backup.Backup, _ []*object) { b.Manifest.Namespace = "other" },
			"the backup does not hold its own Cluster other/mgmt"},
	} {
		r := newRestoring(t)
		r.Force = true
		tc.edit(r.Backup, r.Backup.Section(backup.Objects))
		err := restore.Check(t.Context(), r.Input)
		if fault.CodeOf(err) != fault.BackupInvalid || !strings.Contains(err.Error(), "check backup "+r.Path+": ") ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
