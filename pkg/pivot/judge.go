package pivot

import (
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// judge tells the phase from what both sides hold. On the target only the management cluster's own Cluster
// counts: others there may be its users' business, paused or not.
func judge(source, target clusters.Holding, name string) (Phase, Stage) {
	here, arrived := !source.Empty(), target.Cluster(name) != nil
	switch {
	case !here && !arrived:
		return Nothing, StageNone
	case !here && target.Cluster(name).Paused:
		return Interrupted, StageResuming
	case !here:
		return Done, StageNone
	case !arrived && !source.HasPaused():
		return NotStarted, StageNone // what lies on the target was not put there by a move: RuleTarget judges it
	case !arrived && len(target.Objects) == 0:
		return Interrupted, StagePaused
	case !arrived:
		return Interrupted, StageCopying
	}
	return judgeBoth(source, target, name)
}

// judgeBoth tells the stage when the Cluster is on the target and something is at the source. clusterctl ends
// creating before it starts deleting, so whatever the source has and the target lacks was not yet created. What the
// target has of its own, as that of an active tenant, no move has deleted at the source.
func judgeBoth(source, target clusters.Holding, name string) (Phase, Stage) {
	uncopied := len(missing(source.Objects, target.Objects)) > 0
	deleted := len(missing(target.Moved(), source.Objects)) > 0
	switch resumed := !target.Cluster(name).Paused; {
	case len(source.Clusters) == 0 && !uncopied && !resumed:
		// its last objects without an owner, which clusterctl deletes in any order, Clusters among them
		return Interrupted, StageCopied
	case uncopied && deleted: // no move deletes before all is created: what the source has may not be all
		return Interrupted, StageConflict
	case source.HasActive() && (resumed || deleted):
		return Interrupted, StageConflict
	case source.HasActive():
		return Interrupted, StageCopying // somebody resumed the source: it has everything and is the one that counts
	case uncopied && resumed:
		return Interrupted, StageConflict
	case uncopied:
		return Interrupted, StageCopying
	case !resumed:
		return Interrupted, StageCopied
	}
	// The target has everything and is active; what is left at the source is paused and does nothing. This is how
	// the way out of StageCopied ends: the remains go with the bootstrap cluster.
	return Done, StageNone
}

// among returns the objects that are wanted ones.
func among(objects, wanted []capi.Object) []capi.Object {
	is := map[capi.Key]bool{}
	for _, o := range wanted {
		is[o.Key()] = true
	}
	var found []capi.Object
	for _, o := range objects {
		if is[o.Key()] {
			found = append(found, o)
		}
	}
	return found
}

// missing returns the objects of want that have no counterpart in have.
func missing(want, have []capi.Object) []capi.Object {
	there := map[capi.Key]bool{}
	for _, o := range have {
		there[o.Key()] = true
	}
	var lacking []capi.Object
	for _, o := range want {
		if !there[o.Key()] {
			lacking = append(lacking, o)
		}
	}
	return lacking
}
