// Package owned says by what cluster-init recognises what it made: names, labels, markers and tags. No other package
// writes one of them out, so that what one makes another one finds. kustomize-components writes some of them too: a
// test compares.
package owned

import (
	"strings"
	"time"
)

const (
	// ClusterLabel holds the management cluster's name, on all that is made for one cluster: containers, volumes,
	// objects.
	ClusterLabel = "cluster-init.io/cluster"
	// CreatedLabel marks the Docker network that kind clusters share when cluster-init made it: only then may it be
	// removed.
	CreatedLabel = "cluster-init.io/created"
	// ComponentLabel holds the component's name, on the Kustomization of each component.
	ComponentLabel = "cluster-init.io/component"
	// SuspendedAnnotation is on what the pivot suspended, so that nothing is resumed that a user suspended.
	SuspendedAnnotation = "cluster-init.io/suspended-for-pivot"
	// VerifiedAnnotation is on a Cluster in the cluster that it was moved to, once all that moved with it was compared.
	// Its value is the UID that the Cluster has there: another move makes it void.
	VerifiedAnnotation = "cluster-init.io/pivot-verified"
	// DownAnnotation is on the Cluster that a `down` is about to delete, and on the release of the bootstrap cluster
	// that deletes it: nothing else is done with it from then on.
	DownAnnotation = "cluster-init.io/down"
	// MachinesAnnotation is on a Cluster between a verified move and the first look that finds it to manage itself. It
	// holds the Machines that the move brought, with their provider IDs.
	MachinesAnnotation = "cluster-init.io/pivot-machines"
	// PivotAnnotation is on Clusters and ClusterClasses as long as a move has them paused: it is set and removed by the
	// write that pauses and the one that resumes. What is paused without it was paused by a person. Its value is that
	// of SuspendedAnnotation.
	PivotAnnotation = "cluster-init.io/pivot"
	// RestoringMark is the value of Cluster API's paused annotation on what a restore has paused, and not a person.
	RestoringMark = "cluster-init.io/restoring"
	// ShellAnnotation is on the ConfigMap with an environment's values. It lists the paths of those that variables of a
	// shell gave.
	ShellAnnotation = "cluster-init.io/values-from-shell"
	// FlagsAnnotation is on the same ConfigMap. It lists the paths of the values that flags gave, as JSON lists of
	// keys.
	FlagsAnnotation = "cluster-init.io/values-from-flags"
	// WokenAnnotation is set and removed at once: the change has a controller look at the object.
	WokenAnnotation = "cluster-init.io/woken"

	// RegistryRepository is the repository of the registry's image, which holds one binary of cluster-init. Its tag
	// follows the binary.
	RegistryRepository = "cluster-init.io/registry"
	// FinishedMarker is a file in the bootstrap cluster's node, written when kind has finished it: its API server
	// answers long before.
	FinishedMarker = "/etc/cluster-init.io/finished"

	markerFolder = "/etc/cluster-init.io/cluster/"
	makerFolder  = "/etc/cluster-init.io/made-by/"
	tagPrefix    = "cluster-init:cluster="
)

// BootstrapCluster is the name of the kind cluster that builds a management cluster.
func BootstrapCluster(cluster string) string { return cluster + "-bootstrap" }

// Registry is the name of a cluster's registry, container and volume alike.
func Registry(cluster string) string { return cluster + "-registry" }

// Marker is the path at which each node that belongs to a cluster has a bind mount of an empty file: `docker inspect`
// proves whose a node is before, and after, any API server of it answers.
func Marker(cluster string) string { return markerFolder + cluster }

// MakerMarker is the path of a mount like Marker, in the bootstrap cluster's node: it says which state folder's run
// made it.
func MakerMarker(id string) string { return makerFolder + id }

// ClusterOfMarker returns the cluster that a mount's path in a node is the marker of. False means it is no marker.
func ClusterOfMarker(path string) (cluster string, isMarker bool) {
	return strings.CutPrefix(path, markerFolder)
}

// ManagedItself reports whether a Cluster's annotations bear the mark of a verified pivot, wherever the Cluster is now:
// the management cluster held its own definition once, and may manage other clusters. The Cluster of one that is being
// built bears none.
func ManagedItself(annotations map[string]string) bool { return annotations[VerifiedAnnotation] != "" }

// SuspendedFor is the value of SuspendedAnnotation: for which cluster's pivot it was. A user's own bootstrap cluster
// may have seen others.
func SuspendedFor(namespace, cluster string) string { return namespace + "/" + cluster }

const backupTime = "20060102T150405Z"

// UnverifiedSuffix ends the name of a file beside a backup: the record of a move that nobody has verified yet. It tells
// of that move also where its backup was moved away.
const UnverifiedSuffix = ".unverified"

// EncryptedSuffix ends the name of a backup that is one encrypted file.
const EncryptedSuffix = ".tar.age"

// Backup is the name of a folder, in a cluster's state folder, with a backup of its definition. An encrypted one is a
// file of that name with EncryptedSuffix.
func Backup(cluster string, at time.Time) string {
	return cluster + "-" + at.UTC().Format(backupTime)
}

// IsBackup reports whether something in a cluster's state folder is a backup of its definition, by its name.
func IsBackup(cluster, name string) bool {
	_, is := BackupTime(cluster, name)
	return is
}

// TellsOfPivot reports whether something in a cluster's state folder is left of a pivot, by its name: a backup, or the
// record of a move.
func TellsOfPivot(cluster, name string) bool {
	return IsBackup(cluster, strings.TrimSuffix(name, UnverifiedSuffix))
}

// BackupTime returns the time in the name of a backup, in UTC. False means it is not the name of one.
func BackupTime(cluster, name string) (time.Time, bool) {
	at, is := strings.CutPrefix(strings.TrimSuffix(name, EncryptedSuffix), cluster+"-")
	made, err := time.Parse(backupTime, at)
	return made, is && err == nil
}

// CloudName is what Cluster API's provider for OpenStack builds the names of a cluster's resources of. Two clusters can
// have the same: of namespace a-b and name c, and of namespace a and name b-c.
func CloudName(namespace, cluster string) string { return namespace + "-" + cluster }

// Tag is on all resources in a cloud that can carry one. cloudName is the cluster's CloudName.
func Tag(cloudName string) string { return tagPrefix + cloudName }

// CloudNameOfTag returns the CloudName in a tag. False means the tag is not one of ours.
func CloudNameOfTag(tag string) (cloudName string, ours bool) {
	return strings.CutPrefix(tag, tagPrefix)
}
