// Package owned contains the names, labels, markers and tags by which cluster-init recognizes what it made. No other
// package spells one out, so that writers and readers agree. kustomize-components writes some of them too: a test
// compares.
package owned

import (
	"strings"
	"time"
)

const (
	// ClusterLabel holds the management cluster's name, on everything that is made for one cluster: containers,
	// volumes, objects.
	ClusterLabel = "cluster-init.io/cluster"
	// CreatedLabel marks the Docker network that kind clusters share if cluster-init made it: only then may it be
	// removed.
	CreatedLabel = "cluster-init.io/created"
	// HoldsLabel is on a container that only holds an address of the Docker network while others are started. It lives
	// for minutes, and has the ClusterLabel too.
	HoldsLabel = "cluster-init.io/holds-address"
	// ServesLabel is on the registry of a cluster that `install` made a management cluster. It holds the UID of that
	// cluster's namespace kube-system: the components of the cluster come from there.
	ServesLabel = "cluster-init.io/serves"
	// ComponentLabel holds the component's name, on the Kustomization of each component.
	ComponentLabel = "cluster-init.io/component"
	// HealthChecksComponent is the component with the health checks of machines. That of a further pool of workers has
	// the pool's name after it.
	HealthChecksComponent = "health-checks"
	// BackupComponent is the component with the backups on a schedule.
	BackupComponent = "backup"
	// BackupLabel is on the CronJob of that component, and on its Pods. It holds the name of the cluster.
	BackupLabel = "cluster-init.io/backup"
	// WorkloadLabel is on each object of a workload cluster that cluster-init applies. It holds the cluster's name.
	WorkloadLabel = "cluster-init.io/workload"
	// PoolLabel holds the name of a further pool of workers, on its Kustomization and on what that applies.
	PoolLabel = "cluster-init.io/pool"
	// SuspendedAnnotation is on what the pivot suspended, so that nothing is resumed that a user suspended.
	SuspendedAnnotation = "cluster-init.io/suspended-for-pivot"
	// VerifiedAnnotation is on a Cluster in the cluster that it was moved to, once all that moved with it was compared.
	// Its value is the UID that the Cluster has there: another move makes it void.
	VerifiedAnnotation = "cluster-init.io/pivot-verified"
	// DownAnnotation is on the Cluster that a `down` is about to delete, and on the release of the bootstrap cluster
	// that deletes it. From then on, runs only continue the deletion.
	DownAnnotation = "cluster-init.io/down"
	// MachinesAnnotation is on a Cluster between a verified move and the first check that finds the cluster managing
	// itself. It holds the Machines that the move brought, with their provider IDs.
	MachinesAnnotation = "cluster-init.io/pivot-machines"
	// PivotAnnotation is on Clusters and ClusterClasses while a move has them paused: the write that pauses sets it,
	// and the one that resumes removes it. Anything paused without it was paused by a person, or by a restore: see
	// RestoringMark. Its value is that of SuspendedAnnotation.
	PivotAnnotation = "cluster-init.io/pivot"
	// RestoringMark is the value of Cluster API's paused annotation on what a restore, not a person, has paused.
	RestoringMark = "cluster-init.io/restoring"
	// ShellAnnotation is on the ConfigMap with an environment's values. It lists the paths of the values that shell
	// variables gave.
	ShellAnnotation = "cluster-init.io/values-from-shell"
	// FlagsAnnotation is on the same ConfigMap. It lists the paths of the values that flags gave, as JSON lists of
	// keys.
	FlagsAnnotation = "cluster-init.io/values-from-flags"
	// InstalledAnnotation is on the ConfigMap with the values of a cluster that `install` made a management cluster.
	// Its value is that of SuspendedAnnotation. Such a cluster holds no Cluster of its own.
	InstalledAnnotation = "cluster-init.io/installed"
	// NamespacesAnnotation is on the same ConfigMap of such a cluster. It lists the namespaces that others made,
	// separated by commas: `uninstall` never deletes them.
	NamespacesAnnotation = "cluster-init.io/namespaces-of-others"
	// RemovalAnnotation is on the same ConfigMap from the begin of an `uninstall` to its end. It names, as JSON, what
	// the uninstall removes, so that a later run finds what a killed one has left. On the namespace of Flux, which is
	// deleted last, its value is that of InstalledAnnotation.
	RemovalAnnotation = "cluster-init.io/uninstall"
	// WokenAnnotation is set and removed at once: the change makes a controller reconcile the object.
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
	// addressPrefix begins the description of an address of an API server.
	addressPrefix = "Created by cluster-init for the API server of cluster "
)

// BootstrapCluster is the name of the kind cluster that builds a management cluster.
func BootstrapCluster(cluster string) string { return cluster + "-bootstrap" }

// Registry is the name of a cluster's registry, container and volume alike.
func Registry(cluster string) string { return cluster + "-registry" }

// LoadBalancer is the name of the container in front of the API servers of a cluster of containers. Cluster API's
// docker provider gives it.
func LoadBalancer(cluster string) string { return cluster + "-lb" }

// Marker is the path at which each node of a cluster has a bind mount of an empty file: `docker inspect` proves which
// cluster a node belongs to, even when no API server answers.
func Marker(cluster string) string { return markerFolder + cluster }

// MakerMarker is the path of a mount like Marker, in the bootstrap cluster's node: it identifies the state folder of
// the run that made it.
func MakerMarker(id string) string { return makerFolder + id }

// ClusterOfMarker returns the cluster that a mount's path in a node is the marker of. False means it is no marker.
func ClusterOfMarker(path string) (cluster string, isMarker bool) {
	return strings.CutPrefix(path, markerFolder)
}

// ManagedItself reports whether a Cluster's annotations carry the mark of a verified pivot, wherever the Cluster is
// now: the management cluster held its own definition once, and may manage other clusters. The Cluster of one that is
// being built carries none.
func ManagedItself(annotations map[string]string) bool { return annotations[VerifiedAnnotation] != "" }

// SuspendedFor is the value of SuspendedAnnotation: the cluster whose pivot suspended the object. A user's own
// bootstrap cluster may have had others. It is the value of InstalledAnnotation, too.
func SuspendedFor(namespace, cluster string) string { return namespace + "/" + cluster }

const backupTime = "20060102T150405Z"

// UnverifiedSuffix ends the name of a file next to a backup: the record of a move that was not verified yet. It records
// the move even after its backup was moved away.
const UnverifiedSuffix = ".unverified"

// EncryptedSuffix ends the name of a backup that is one encrypted file.
const EncryptedSuffix = ".tar.age"

// Backup is the name of a folder, in a cluster's state folder, with a backup of its definition. An encrypted backup is
// a file of that name with EncryptedSuffix.
func Backup(cluster string, at time.Time) string {
	return cluster + "-" + at.UTC().Format(backupTime)
}

// IsBackup reports whether something in a cluster's state folder is a backup of its definition, by its name.
func IsBackup(cluster, name string) bool {
	_, is := BackupTime(cluster, name)
	return is
}

// TellsOfPivot reports whether a name in a cluster's state folder is that of a trace of a pivot: a backup, or the
// record of a move.
func TellsOfPivot(cluster, name string) bool {
	return IsBackup(cluster, strings.TrimSuffix(name, UnverifiedSuffix))
}

// BackupTime returns the time in the name of a backup, in UTC. False means it is not the name of one.
func BackupTime(cluster, name string) (time.Time, bool) {
	name = strings.TrimSuffix(name, EncryptedSuffix)
	at, _ := strings.CutPrefix(name, cluster+"-")
	made, err := time.Parse(backupTime, at)
	return made, err == nil && name == Backup(cluster, made) // Parse accepts fractions of a second
}

// CloudName is the base of the names that Cluster API's provider for OpenStack gives to a cluster's resources. Two
// clusters can share it: namespace a-b with name c, and namespace a with name b-c.
func CloudName(namespace, cluster string) string { return namespace + "-" + cluster }

// Tag is on all resources in a cloud that can carry one. cloudName is the cluster's CloudName.
func Tag(cloudName string) string { return tagPrefix + cloudName }

// CloudNameOfTag returns the CloudName in a tag. False means the tag is not one of ours.
func CloudNameOfTag(tag string) (cloudName string, ours bool) {
	return strings.CutPrefix(tag, tagPrefix)
}

// IsHealthChecks reports whether a component, by its name, has health checks of machines.
func IsHealthChecks(component string) bool {
	return component == HealthChecksComponent || strings.HasPrefix(component, HealthChecksComponent+"-")
}

// AddressDescription is the description of the floating IP that is made for a cluster's API server, or of the port that
// reserves its virtual address. It is set in the request that makes it, which cannot set the tag: a run that is killed
// between the two requests leaves a proof.
func AddressDescription(cloudName string) string { return addressPrefix + cloudName }

// CloudNameOfAddress returns the CloudName in the description of an address. False means that it is not one of ours.
func CloudNameOfAddress(description string) (cloudName string, ours bool) {
	return strings.CutPrefix(description, addressPrefix)
}
