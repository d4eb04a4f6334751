package restore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

const (
	shopEntry   = "team-a_shop_helm.toolkit.fluxcd.io_HelmRelease"
	sourceEntry = "team-a_shop-chart_source.toolkit.fluxcd.io_OCIRepository"
)

// applier returns an object of Flux, in another namespace, that has applied an object of the cluster.
func applier(release bool, spec map[string]any, entry string) *object {
	kind := fixture.KustomizationKind
	if release {
		kind = fixture.ReleaseKind
	}
	u := named(kind, "apps", map[string]any{"spec": spec, "status": map[string]any{"inventory": map[string]any{
		"entries": []any{map[string]any{"id": entry, "v": "v2"}}}}})
	u.SetNamespace("gitops")
	return u
}

// addApplier creates it on the target, with its status.
func (r *restoring) addApplier(t *testing.T, u *object) {
	t.Helper()
	must(t, fixture.Create(t.Context(), r.Target.Client, u.GetNamespace(), []*object{u}))
}

// appliedBy is a backup whose release a Kustomization gitops/apps has applied.
func appliedBy(t *testing.T) *restoring {
	t.Helper()
	release := shopRelease()[0]
	labels := release.GetLabels()
	labels["kustomize.toolkit.fluxcd.io/name"], labels["kustomize.toolkit.fluxcd.io/namespace"] = "apps", "gitops"
	release.SetLabels(labels)
	r := newWorkloads(t)
	r.release = release
	r.backUpWorkloads(t)
	return r
}

// A Kustomization or a HelmRelease on the target that would apply or resume the release of a workload cluster keeps a
// restore from changing anything.
func TestWhatWouldResumeAReleaseKeepsARestoreAway(t *testing.T) {
	active := map[string]any{}
	for name, tc := range map[string]struct {
		labelled bool
		on       *object
		want     string // empty means that it does not matter
		hint     string
	}{
		"a Kustomization has the release": {false, applier(false, active, shopEntry),
			"the Kustomization gitops/apps would apply the HelmRelease team-a/shop",
			"flux suspend kustomization -n gitops apps --kubeconfig /tmp/target.kubeconfig"},
		"a Kustomization has its source": {false, applier(false, active, sourceEntry),
			"the Kustomization gitops/apps would apply the OCIRepository team-a/shop-chart", ""},
		"a HelmRelease has the release": {false, applier(true, active, shopEntry),
			"the HelmRelease gitops/apps would apply the HelmRelease team-a/shop",
			"flux suspend helmrelease -n gitops apps"},
		"a Kustomization that is new is of the name that applied it": {true, applier(false, active, ""),
			"the Kustomization gitops/apps would apply the HelmRelease team-a/shop", ""},
		"it is suspended": {true, applier(false, map[string]any{"suspend": true}, shopEntry), "", ""},
		"it applies something else": {false, applier(false, active, strings.ReplaceAll(shopEntry, "shop", "till")), "",
			""},
		"it applies the values only": {false, applier(false, active, "team-a_shop-values__ConfigMap"), "", ""},
		"it applies to another cluster": {false, applier(false, map[string]any{"kubeConfig": map[string]any{
			"secretRef": map[string]any{"name": "edge"}}}, shopEntry), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newWorkloads(t)
			if tc.labelled {
				r = appliedBy(t)
			}
			for _, verified := range []bool{false, true} {
				r.Verified = verified
				if !verified {
					r.addApplier(t, tc.on)
				}
				err := restore.Check(t.Context(), r.Input)
				if tc.want == "" && err != nil || tc.want != "" && (fault.CodeOf(err) != fault.RestoreRefused ||
					!strings.Contains(err.Error(), tc.want) || !strings.Contains(fault.HintOf(err), tc.hint)) {
					t.Errorf("verified %t: got %v, with hint\n%s", verified, err, fault.HintOf(err))
				}
			}
			_, err := restore.Run(t.Context(), r.Input)
			if (err != nil) != (tc.want != "") || err != nil && r.made > 0 {
				t.Errorf("%d objects were created: %v", r.made, err)
			}
		})
	}
}

// Unknown is never absent.
func TestARestoreKnowsWhatWouldResumeARelease(t *testing.T) {
	r := newWorkloads(t)
	r.Target.Client = interceptor.NewClient(r.Target.Client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if list.GetObjectKind().GroupVersionKind().Kind == "KustomizationList" {
				return errors.New("cut")
			}
			return c.List(ctx, list, opts...)
		}})
	if err := restore.Check(t.Context(), r.Input); fault.CodeOf(err) != fault.ClusterUnreachable {
		t.Errorf("got %v", err)
	}
}

// A Kustomization may come while the restore runs, or between two of its runs. A restore that has brought back all is
// not refused: its user has resumed the Kustomization.
func TestWhatWouldResumeAReleaseIsCheckedAgain(t *testing.T) {
	on := applier(false, map[string]any{}, shopEntry)
	r := newWorkloads(t)
	create := r.Restore
	r.Restore = func(ctx context.Context, in capi.RestoreInput) error {
		if on != nil {
			r.addApplier(t, on)
			on = nil
		}
		return create(ctx, in)
	}
	for i, code := range []fault.Code{fault.RestoreFailed, fault.RestoreRefused} {
		_, err := restore.Run(t.Context(), r.Input)
		if fault.CodeOf(err) != code || !strings.Contains(err.Error(), "would apply the HelmRelease team-a/shop") ||
			!strings.Contains(fault.HintOf(err), "flux suspend kustomization -n gitops apps") {
			t.Errorf("run %d: %v, with hint %s", i, err, fault.HintOf(err))
		}
		if r.read(t, shopRelease()[0]) != nil || r.read(t, ofShop()) == nil {
			t.Errorf("run %d: the release exists, or the Cluster does not", i)
		}
	}
	set := func(patch string) {
		must(t, r.Target.Client.Patch(t.Context(), applier(false, map[string]any{}, shopEntry),
			client.RawPatch("application/merge-patch+json", []byte(patch))))
	}
	set(`{"spec":{"suspend":true}}`)
	if _, err := restore.Run(t.Context(), r.Input); err != nil || r.read(t, shopRelease()[0]) == nil {
		t.Errorf("it is suspended: %v", err)
	}
	set(`{"spec":{"suspend":false}}`)
	if again, err := restore.Run(t.Context(), r.Input); err != nil || !again.Already {
		t.Errorf("it is resumed: %+v, %v", again, err)
	}
}
