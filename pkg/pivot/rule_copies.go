package pivot

import (
	"context"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// checkCopies refuses what a repeated move would overwrite on the target and no earlier attempt can have created. That
// is what matches neither the source nor saved, this machine's record of that attempt, which may be nil.
func checkCopies(saved *record.Record) check {
	return func(_ context.Context, v *view) ([]*Refusal, error) {
		recorded := map[capi.Key]record.Entry{}
		if saved != nil {
			for _, r := range saved.Entries {
				recorded[r.Object().Key()] = r
			}
		}
		onTarget := map[capi.Key]capi.Object{}
		for _, o := range v.target.All() {
			onTarget[o.Key()] = o
		}
		d := record.NewDigester()
		var refusals []*Refusal
		for _, o := range v.moves {
			existing, exists := onTarget[o.Key()]
			if !exists || o.Shared {
				continue
			}
			source, _ := v.source.Get(o)
			found, _ := v.target.Get(existing)
			wrong := d.Entry(o, source).Missing(d.Parts(found), true)
			if entry, known := recorded[o.Key()]; len(wrong) == 0 || known &&
				len(entry.Missing(saved.Key.Parts(found), true)) == 0 {
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
