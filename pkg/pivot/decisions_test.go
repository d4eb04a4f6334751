package pivot_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// A finish deletes at the source what the target was seen to have. What could not be read there was not seen.
func TestAFinishThatCannotReadTheTargetDeletesNothing(t *testing.T) {
	for name, object := range map[string]string{
		"what is left at the source":  "mgmt-cp",
		"what the backup alone names": "mgmt-load-balancer",
	} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			cutOffWhileDeleting(t, r, 4)
			before, inner := snapshot(t, r), r.Target.Client.(client.WithWatch)
			get := func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object,
				opts ...client.GetOption) error {
				if key.Name == object {
					return apierrors.NewServiceUnavailable("etcd has no leader")
				}
				return c.Get(ctx, key, o, opts...)
			}
			r.Target.Client = interceptor.NewClient(inner, interceptor.Funcs{Get: get})
			_, err := pivot.Run(t.Context(), r.Input)
			r.Target.Client = inner
			if after := snapshot(t, r); after != before {
				t.Errorf("both sides were\n%s\nand are\n%s", before, after)
			}
			if fault.CodeOf(err) != fault.PivotFailed || !fault.CanRetry(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// The target is paused until a finish is over: none of its controllers has rewritten an annotation.
func TestAFinishComparesAnnotationsOfControllers(t *testing.T) {
	r := rehearse(t, fixture.Set("ConfigMap", "mgmt-load-balancer", "written-at-the-source",
		"metadata", "annotations", "cluster.x-k8s.io/note"))
	cutOffWhileDeleting(t, r, 4)
	_, err := pivot.Run(t.Context(), r.Input)
	if fault.CodeOf(err) != fault.PivotFailed || !strings.Contains(err.Error(), "annotation of a controller") {
		t.Errorf("got %v", err)
	}
}

// A kind that the user may not create on the target is refused as that, and not tried.
func TestPlanDoesNotTryWhatMayNotBeCreated(t *testing.T) {
	from, to := sides(t, source(), target())
	someVerbs("create", "machines").on(&to)
	failing("Machine", forbidden("machines")).on(&to)
	_, err := pivot.NewPlan(t.Context(), from, to, scope)
	got := pivot.Refusals(err)
	if len(got) != 1 || got[0].Rule != pivot.RulePermissions {
		t.Errorf("got %v, want one refusal by the rule %s", err, pivot.RulePermissions)
	}
}

// Admission often depends on the namespace: a creation is tried in the one that the object moves into, if it exists.
func TestRehearsalInTheNamespaceOfTheCluster(t *testing.T) {
	from, to := sides(t, source(), target())
	tried := make(chan string, 100)
	answering{create: func(u *unstructured.Unstructured, dryRun bool) (bool, error) {
		if dryRun {
			tried <- u.GetNamespace()
		}
		return false, nil
	}}.on(&to)
	if _, err := pivot.NewPlan(t.Context(), from, to, scope); err != nil {
		t.Fatal(err)
	}
	close(tried)
	namespaces := map[string]int{}
	for namespace := range tried {
		namespaces[namespace]++
	}
	if len(namespaces) != 1 || namespaces[scope.Namespace] == 0 {
		t.Errorf("creations were tried in %v, want %s", namespaces, scope.Namespace)
	}
}

// The remedy for an object that the target forbids names the missing namespace only if that is the reason.
func TestRemedyOfAForbiddenObject(t *testing.T) {
	from, to := sides(t, source(), target())
	failing("Machine", forbidden("machines")).on(&to)
	_, err := pivot.NewPlan(t.Context(), from, to, scope)
	got := pivot.Refusals(err)
	if len(got) != 1 || got[0].Rule != pivot.RuleWebhooks || strings.Contains(got[0].Remedy, "create namespace") {
		t.Errorf("got %v", err)
	}
}

// The Cluster exists at the source though others stand behind it in the same namespace.
func TestTheClusterIsFoundAmongOthers(t *testing.T) {
	from, to := sides(t, source(), target())
	for _, name := range []string{"aaa", "zzz"} {
		other := fixture.One("Cluster", "mgmt")[0].DeepCopy()
		other.SetName(name)
		must(t, fixture.Create(t.Context(), from.Client, fixture.Namespace, oneOf(other)))
	}
	_, err := pivot.NewPlan(t.Context(), from, to, scope)
	for _, r := range pivot.Refusals(err) {
		if strings.Contains(r.Reason, "does not exist at the source") {
			t.Errorf("got %v", err)
		}
	}
}

// The copies of an earlier attempt may have been seen by controllers of the target, which write annotations.
func TestABegunPivotToleratesWhatControllersWrote(t *testing.T) {
	for annotation, starts := range map[string]bool{"cluster.x-k8s.io/note": true, "example.org/note": false} {
		r := rehearse(t, fixture.Set("KubeadmControlPlane", "mgmt-cp", "x", "metadata", "annotations", annotation))
		copies := fixture.One("KubeadmControlPlane", "mgmt-cp")
		must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace, copies))
		preview, err := pivot.NewPreview(t.Context(), r.Source, r.Target, scope, true)
		if err != nil || preview.MayStart() != starts {
			t.Errorf("%s: %+v, %v", annotation, preview.Refusals, err)
		}
	}
}

// A move needs its namespace on the target, or the right to create it there.
func TestPlanNeedsTheNamespace(t *testing.T) {
	for name, tc := range map[string]struct {
		exists, mayCreate, refused bool
	}{
		"it exists":                             {true, false, false},
		"it does not, and it may be created":    {false, true, false},
		"it does not, and nobody may create it": {false, false, true},
	} {
		from, to := sides(t, source(), target())
		if !tc.exists {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: scope.Namespace}}
			must(t, to.Client.Delete(t.Context(), namespace))
		}
		reviewing(func(verb, resource string) bool {
			return verb == "*" || verb == "create" && resource == "namespaces" && !tc.mayCreate
		}).on(&to)
		_, err := pivot.NewPlan(t.Context(), from, to, scope)
		got := pivot.Refusals(err)
		if refused := len(got) == 1 && got[0].Rule == pivot.RulePermissions; refused != tc.refused || !refused &&
			err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The same holds for copies that are as the record of the earlier attempt has them, though the source has changed
// since.
func TestABegunPivotToleratesWhatControllersWroteOnRecordedCopies(t *testing.T) {
	for annotation, starts := range map[string]bool{"cluster.x-k8s.io/note": true, "example.org/note": false} {
		r := rehearse(t)
		patchSource(t, r, "KubeadmControlPlane", "mgmt-cp",
			`{"metadata":{"annotations":{"`+annotation+`":"x"}},"spec":{"replicas":7}}`)
		endUnseen(t, r)
		r.Source, r.Target = sides(t, source(), target())
		r.flux.stands = true
		must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace,
			fixture.One("KubeadmControlPlane", "mgmt-cp"),
			fixture.Set("KubeadmControlPlane", "mgmt-cp", int64(7), "spec", "replicas")))
		_, err := pivot.Run(t.Context(), r.Input)
		if refused := fault.CodeOf(err) == fault.PivotRefused; refused == starts {
			t.Errorf("%s: %v", annotation, err)
		}
	}
}
