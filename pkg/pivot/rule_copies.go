package pivot

import (
	"context"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

// checkCopies refuses what a repeated move would overwrite on the target and no earlier attempt can have created. That
// is what matches neither the source nor saved, this machine's record of that attempt, which may be nil.
func checkCopies(saved *record) check {
	return func(_ context.Context, v *view) ([]*Refusal, error) {
		recordedAs := map[capi.Key]recorded{}
		if saved != nil {
			for _, r := range saved.Objects {
				recordedAs[r.object().Key()] = r
			}
		}
		onTarget := map[capi.Key]capi.Object{}
		for _, o := range v.target.All() {
			onTarget[o.Key()] = o
		}
		d := newDigester()
		var refusals []*Refusal
		for _, o := range v.moves {
			there, exists := onTarget[o.Key()]
			if !exists || o.Shared {
				continue
			}
			here, _ := v.source.Get(o)
			found, _ := v.target.Get(there)
			wrong := d.record(o, here).missing(d.parts(found), true)
			if was, known := recordedAs[o.Key()]; len(wrong) == 0 || known &&
				len(was.missing(saved.Key.parts(found), true)) == 0 {
				continue
			}
			refusals = append(refusals, &Refusal{Rule: RuleTarget, Object: o.String(),
				Reason: "exists on the target with another " + strings.Join(wrong, ", ") +
					" than at the source, so no earlier attempt has put it there, and would be overwritten",
				Remedy: "Compare both: " + v.onObject("get", o) + " -o yaml. If nobody needs the one on the target, " +
					"delete it there: " +
					Kubectl(v.targetSide, v.scope) + " delete " + v.resource(o) + " " + o.Name})
		}
		return refusals, nil
	}
}
