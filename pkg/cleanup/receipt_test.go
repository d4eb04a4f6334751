package cleanup

import (
	"errors"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/provider"
)

// What could not be deleted counts as deleted only when no list of the cloud has it any more.
func TestWhatIsGoneInTheEnd(t *testing.T) {
	const cloud, server = "openstack", "server"
	gone, listed := provider.Found{}, provider.Found{Listed: map[string]bool{"1": true}}
	unknown := provider.Found{Unknown: []provider.Unlisted{{Kind: server, Why: errors.New("503")}}}
	for name, tc := range map[string]struct {
		where Where
		found provider.Found
		still bool // the cloud still has it, although no list does
		want  Outcome
	}{
		"no list has it":                 {cloud, gone, false, Deleted},
		"a list has it":                  {cloud, listed, false, CouldNot},
		"there is no list":               {cloud, unknown, false, CouldNot},
		"no list has it, but it answers": {cloud, gone, true, CouldNot},
		"it is on this machine":          {InDocker, gone, false, CouldNot},
	} {
		item := Item{Where: tc.where, Kind: server, Name: "s", ID: "1"}
		r := Receipt{CouldNot: []Result{{Item: item, Outcome: CouldNot, Reason: "no"}}}
		r.correct(tc.found, func(Item) bool { return tc.still })
		if (len(r.Deleted) == 1) != (tc.want == Deleted) || (len(r.CouldNot) == 1) != (tc.want == CouldNot) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Two resources of one name in two systems are different: a result of one does not affect the other.
func TestTwoThingsOfOneName(t *testing.T) {
	first := Item{Where: InDocker, Kind: Volume, Name: "v", ID: "1"}
	for name, other := range map[string]Item{
		"in another system": {Where: "openstack", Kind: Volume, Name: "v", ID: "1"},
		"of another kind":   {Where: InDocker, Kind: Network, Name: "v", ID: "1"},
		"of another name":   {Where: InDocker, Kind: Volume, Name: "w", ID: "1"},
		"of another ID":     {Where: InDocker, Kind: Volume, Name: "v", ID: "2"},
	} {
		var r Receipt
		r.add(Result{Item: first, Outcome: CouldNot})
		r.add(Result{Item: other, Outcome: Deleted})
		if len(r.CouldNot) != 1 || len(r.Deleted) != 1 {
			t.Errorf("%s: %+v", name, r)
		}
		if r.add(Result{Item: first, Outcome: Deleted}); len(r.CouldNot) != 0 || len(r.Deleted) != 2 {
			t.Errorf("%s, and the first one later: %+v", name, r)
		}
	}
}
