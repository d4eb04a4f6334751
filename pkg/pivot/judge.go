package pivot

import (
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// judge returns the phase and the stage from what both sides hold. Of the target's Clusters, only the management
// cluster's own counts: others may belong to tenants, paused or not.
func judge(source, target clusters.Holding, name string) (Phase, Stage) {
	atSource, onTarget := !source.Empty(), target.Cluster(name) != nil
	switch {
	case !atSource && !onTarget:
		return Nothing, StageNone
	case !atSource && target.Cluster(name).Paused:
		return Interrupted, StageResuming
	case !atSource:
		return Done, StageNone
	case !onTarget && !source.HasPaused():
		return NotStarted, StageNone // no move created what is on the target: RuleTarget checks it
	case !onTarget && len(target.Objects) == 0:
		return Interrupted, StagePaused
	case !onTarget:
		return Interrupted, StageCopying
	}
	return judgeBoth(source, target, name)
}

// judgeBoth returns the phase and the stage when the Cluster is on the target and something is at the source.
// clusterctl creates everything before it deletes anything. So what only the source has was not yet created, and what
// only the target has was deleted, except objects that no move brought, such as an active tenant's.
func judgeBoth(source, target clusters.Holding, name string) (Phase, Stage) {
	uncopied := len(missing(source.Objects, target.Objects)) > 0
	deleted := len(missing(target.Moved(), source.Objects)) > 0
	switch resumed := !target.Cluster(name).Paused; {
	case len(source.Clusters) == 0 && !uncopied && !resumed:
		// clusterctl deletes the objects without an owner last, in any order: the Clusters may go before the others
		return Interrupted, StageCopied
	case uncopied && deleted: // no move deletes before all is created: the source may be incomplete
		return Interrupted, StageConflict
	case source.HasActive() && (resumed || deleted):
		return Interrupted, StageConflict
	case source.HasActive():
		return Interrupted, StageCopying // a person resumed the source: it is complete, and it counts
	case uncopied && resumed:
		return Interrupted, StageConflict
	case uncopied:
		return Interrupted, StageCopying
	case !resumed:
		return Interrupted, StageCopied
	}
	// The target is complete and active; what is left at the source is paused and does nothing. A recovery by hand from
	// StageCopied ends like this: the remains are deleted with the bootstrap cluster.
	return Done, StageNone
}

// among returns the objects that are in wanted.
func among(objects, wanted []capi.Object) []capi.Object {
	wantedKeys := map[capi.Key]bool{}
	for _, o := range wanted {
		wantedKeys[o.Key()] = true
	}
	var found []capi.Object
	for _, o := range objects {
		if wantedKeys[o.Key()] {
			found = append(found, o)
		}
	}
	return found
}

// missing returns the objects of want that have no counterpart in have.
func missing(want, have []capi.Object) []capi.Object {
	present := map[capi.Key]bool{}
	for _, o := range have {
		present[o.Key()] = true
	}
	var absent []capi.Object
	for _, o := range want {
		if !present[o.Key()] {
			absent = append(absent, o)
		}
	}
	return absent
}
