package restore

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
)

// Stage is how far the restore of a backup has come, derived from the target alone.
type Stage string

// The stages of a restore, in their order.
const (
	Empty    Stage = "empty"    // the target holds nothing of the backup
	Begun    Stage = "begun"    // some of it exists unchanged, no Cluster is active
	Held     Stage = "held"     // all of it exists, and Clusters wait to be resumed
	Done     Stage = "done"     // all of it exists, and no Cluster waits
	Conflict Stage = "conflict" // no restore of this backup leaves this state
)

// targetState is what a target holds of a backup. Shared objects do not count.
type targetState struct {
	objects         []targetObject
	pausedByRestore []capi.Object // Clusters, and ClusterClasses, that a restore has paused
	active          []capi.Object // Clusters that are not paused
	pausedByOthers  []capi.Object // Clusters that are paused, and not by a restore
	shared          []string      // changed shared objects
}

// targetObject is one object of the backup.
type targetObject struct {
	record.Entry
	exists bool
	wrong  []string // its changed parts
}

// resumed reports whether a Cluster is or was active: then all objects existed before.
func (s targetState) resumed() bool { return len(s.active)+len(s.pausedByOthers) > 0 }

// counted returns the objects that count. Once a Cluster is or was active, a machine may have been replaced: objects
// that a rollout of Machines deletes do not count then.
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
		if !o.exists {
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

// judge returns the stage from what the target holds. A restore creates nothing if a Cluster is active already,
// and resumes nothing before all objects exist unchanged.
func judge(s targetState) Stage {
	missing, counted := len(s.missing()), len(s.counted())
	switch {
	case len(s.differing()) > 0, missing > 0 && s.resumed():
		return Conflict
	case missing == counted:
		return Empty
	case missing > 0:
		return Begun
	case len(s.pausedByRestore) > 0:
		return Held
	}
	return Done
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
		all = append(all, c.String()+" is paused, and not by a restore: it stays paused")
	}
	for _, what := range s.shared {
		all = append(all, what+": the target keeps its own")
	}
	return all
}

// remedies warns of what replaces all machines automatically: in a cluster whose API is gone, no machine becomes
// healthy. A health check with a limit is blocked then.
func (input Input) remedies() []string {
	var all []string
	for _, u := range input.Backup.Section(backup.Objects) {
		if u.GetKind() == "MachineHealthCheck" && !limited(u) {
			all = append(all, capi.ObjectOf(u).String()+" replaces machines that do not become healthy in its time: "+
				"annotate a Machine that must stay with "+clusterv1.MachineSkipRemediationAnnotation)
		}
	}
	return all
}

// limited reports whether a health check replaces none of its machines while all are unhealthy.
func limited(check *unstructured.Unstructured) bool {
	limits, _, _ := unstructured.NestedMap(check.Object, "spec", "remediation", "triggerIf")
	_, inRange := limits["unhealthyInRange"]
	most, has := limits["unhealthyLessThanOrEqualTo"]
	return has && most != "100%" && !inRange
}
