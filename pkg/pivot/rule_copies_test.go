package pivot_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/pivot"
)

// A begun pivot overwrites what its earlier attempt has created on the target. It refuses what another process has
// created there since.
func TestABegunPivotOverwritesOnlyCopies(t *testing.T) {
	other := fixture.Set("KubeadmControlPlane", "mgmt-cp", int64(7), "spec", "replicas")
	for name, tc := range map[string]struct {
		there []fixture.Edit
		world func(*testing.T, *rehearsal)
		want  string
	}{
		"as at the source": {},
		"something else": {there: []fixture.Edit{other},
			want: "KubeadmControlPlane management/mgmt-cp: exists on the target with another spec than at the source"},
		"as it was at an earlier attempt": {there: []fixture.Edit{other}, world: func(t *testing.T, r *rehearsal) {
			patchSource(t, r, "KubeadmControlPlane", "mgmt-cp", `{"spec":{"replicas":7}}`)
			endUnseen(t, r) // its record has that
			from, to := sides(t, source(), target())
			r.Source, r.Target = from, to
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := rehearse(t)
			if tc.world != nil {
				tc.world(t, r)
			}
			r.flux.stands = true
			must(t, fixture.Create(t.Context(), r.Target.Client, fixture.Namespace,
				fixture.One("KubeadmControlPlane", "mgmt-cp"), tc.there...))
			before := snapshot(t, r)
			_, err := pivot.Run(t.Context(), r.Input)
			refused := fault.CodeOf(err) == fault.PivotRefused
			if refused != (tc.want != "") || refused && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if after := snapshot(t, r); refused && after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
			preview, previewErr := pivot.NewPreview(t.Context(), r.Source, r.Target, scope, true)
			if refused && (previewErr != nil || preview.MayStart()) {
				t.Errorf("the plan may start: %+v, %v", preview.Refusals, previewErr)
			}
		})
	}
}
