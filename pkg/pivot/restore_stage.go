package pivot

import (
	"strings"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
)

// RestoreStage is how far the restore of a backup has come, derived from the target alone.
type RestoreStage string

// The stages of a restore, in their order.
const (
	RestoreEmpty    RestoreStage = "empty"    // the target holds nothing of the backup
	RestoreBegun    RestoreStage = "begun"    // some of it exists unchanged, no Cluster is active
	RestoreHeld     RestoreStage = "held"     // all of it exists, and Clusters wait to be resumed
	RestoreDone     RestoreStage = "done"     // all of it exists, and no Cluster waits
	RestoreConflict RestoreStage = "conflict" // no restore of this backup leaves this state
)

// targetState is what a target holds of a backup. Objects of the whole cluster are not counted.
type targetState struct {
	objects         []targetObject
	pausedByRestore []capi.Object // Clusters, and ClusterClasses, that a restore has paused
	active          []capi.Object // Clusters that are not paused
	pausedByOthers  []capi.Object // Clusters that are paused, and not by a restore
	shared          []string      // changed objects of the whole cluster
}

// targetObject is one object of the backup.
type targetObject struct {
	recorded
	there bool
	wrong []string // its changed parts
}

// resumed reports whether a Cluster is or was active: then all objects existed before.
func (s targetState) resumed() bool { return len(s.active)+len(s.pausedByOthers) > 0 }

// counted returns the objects that count: if a Cluster is active, a machine may have been replaced since.
func (s targetState) counted() []targetObject {
	var all []targetObject
	for _, o := range s.objects {
		if !o.Shared && !(o.Passing && s.resumed()) {
			all = append(all, o)
		}
	}
	return all
}

func (s targetState) missing() []targetObject {
	var all []targetObject
	for _, o := range s.counted() {
		if !o.there {
			all = append(all, o)
		}
	}
	return all
}

// differing describes the objects on the target that have changed.
func (s targetState) differing() []string {
	var all []string
	for _, o := range s.counted() {
		if len(o.wrong) > 0 {
			all = append(all, o.String()+" "+strings.Join(o.wrong, " and "))
		}
	}
	return all
}

// judgeRestore returns the stage from what the target holds. A restore creates nothing if a Cluster is active already,
// and resumes nothing before all objects exist unchanged.
func judgeRestore(s targetState) RestoreStage {
	missing, judged := len(s.missing()), len(s.counted())
	switch {
	case len(s.differing()) > 0, missing > 0 && s.resumed():
		return RestoreConflict
	case missing == judged:
		return RestoreEmpty
	case missing > 0:
		return RestoreBegun
	case len(s.pausedByRestore) > 0:
		return RestoreHeld
	}
	return RestoreDone
}

// reasons describes the differences between the target and the backup.
func (s targetState) reasons() []string {
	all := s.differing()
	for _, o := range s.missing() {
		all = append(all, o.String()+" is missing")
	}
	if len(all) > 0 && s.resumed() {
		for _, c := range s.active {
			all = append(all, c.String()+" is active")
		}
		for _, c := range s.pausedByOthers {
			all = append(all, c.String()+" is paused, and not by a restore")
		}
	}
	return all
}

// warnings returns what a person should know of a target that matches the backup.
func (s targetState) warnings() []string {
	var all []string
	for _, c := range s.pausedByOthers {
		all = append(all, c.String()+" is paused, and not by a restore: it stays so")
	}
	for _, what := range s.shared {
		all = append(all, what+", and is left as it is on the target")
	}
	return all
}

// remedies warns of what replaces machines automatically: in a cluster whose API is gone, no machine becomes healthy.
func (in RestoreInput) remedies() []string {
	var all []string
	for _, u := range in.Backup.Section(backup.Objects) {
		if u.GetKind() == "MachineHealthCheck" {
			all = append(all, capi.ObjectOf(u).String()+" replaces machines that do not become healthy in its time: "+
				"pause it if they must stay")
		}
	}
	return all
}
