package pivot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// ownerBound is how long a backup waits until the controllers of Cluster API have made a Cluster the owner of new
// objects.
const ownerBound = 30 * time.Second

// Extent is what a backup holds besides the definition of a management cluster.
type Extent struct {
	Environment []*unstructured.Unstructured // the inputs of its release
	// Workloads are the workload clusters. The backup holds the Cluster API objects of their namespaces.
	Workloads []backup.WorkloadCluster
	Releases  []*unstructured.Unstructured // the inputs of their releases
	// Named are Secrets and ConfigMaps that their components name. The backup omits those that it holds elsewhere.
	Named []*unstructured.Unstructured
	// Etcd describes Snapshot, the one of the cluster's etcd; nil means none.
	Etcd     *backup.EtcdSnapshot
	Snapshot []byte
}

// workload returns the section Workload of a backup whose other sections are given.
func (e Extent) workload(others map[backup.Section][]*unstructured.Unstructured) []*unstructured.Unstructured {
	held := map[capi.Key]bool{}
	for _, section := range []backup.Section{backup.Objects, backup.References} {
		for _, u := range others[section] {
			held[capi.ObjectOf(u).Key()] = true
		}
	}
	all := slices.Clone(e.Releases)
	for _, u := range e.Releases {
		held[capi.ObjectOf(u).Key()] = true
	}
	for _, u := range e.Named {
		if key := capi.ObjectOf(u).Key(); !held[key] {
			held[key] = true
			all = append(all, u)
		}
	}
	return all
}

// namespaces returns the namespaces that a backup of the scope reads.
func (e Extent) namespaces(scope clusters.Scope) []string {
	return backup.Manifest{Namespace: scope.Namespace, Workloads: e.Workloads}.Namespaces()
}

// Kept is the result of Keep.
type Kept struct {
	Path     string
	Manifest backup.Manifest
	// Left are objects that name a Cluster, that no Cluster owns, and that the backup leaves out with what they own:
	// clusterctl would not restore them.
	Left []capi.Object
}

// Keep backs up the definition that a cluster holds, with more. It changes nothing in the cluster. It refuses, with the
// code fault.BackupRefused, a definition that is incomplete, paused or being deleted, and workload clusters that are.
func (k Keeper) Keep(ctx context.Context, side clusters.Side, scope clusters.Scope, more Extent) (Kept, error) {
	namespaces := more.namespaces(scope)
	before, err := still(ctx, side, scope, namespaces[1:]...)
	if err != nil {
		return Kept{}, err
	}
	graph, err := k.owned(ctx, side.Client, namespaces)
	if err != nil {
		return Kept{}, unread(err)
	}
	staged, err := k.stage(ctx, side, scope, graph, graph.Moves(), more)
	if err != nil {
		return Kept{}, fault.Wrap(fmt.Errorf("back up Cluster %s/%s: %w", scope.Namespace, scope.Cluster,
			err), fault.CodeOr(err, fault.BackupRefused),
			"Nothing was changed in the cluster. Check that it answers and that "+k.Dir+
				" can be written, and run the same command again.")
	}
	after, err := still(ctx, side, scope, namespaces[1:]...)
	if err == nil && !slices.Equal(before, after) {
		err = refused(scope, "its Clusters have changed while they were read", "Run the same command again.")
	}
	if err == nil {
		err = staged.Publish()
	}
	if err != nil {
		return Kept{}, errors.Join(err, staged.Discard())
	}
	return Kept{Path: staged.Path, Manifest: staged.Manifest, Left: graph.Unowned()}, nil
}

// owned reads the graph. While an object has no owner yet it reads again, for ownerBound at most.
func (k Keeper) owned(ctx context.Context, c client.Reader, namespaces []string) (*capi.Graph, error) {
	waits := time.NewTimer(ownerBound)
	defer waits.Stop()
	for reported := ""; ; {
		graph, err := capi.Discover(ctx, c, namespaces...)
		if err != nil {
			return nil, err
		}
		left := graph.Unowned()
		if len(left) == 0 {
			return graph, nil
		}
		if what := left[0].String() + ": " + Unowned; k.Waiting != nil && what != reported {
			k.Waiting(what)
			reported = what
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-waits.C:
			return graph, nil
		case <-time.After(time.Second):
		}
	}
}

// MayKeep makes the checks that Keep makes first, with the same errors.
func MayKeep(ctx context.Context, side clusters.Side, scope clusters.Scope) error {
	_, err := still(ctx, side, scope)
	return err
}

// still returns the Clusters of the scope, and of further namespaces, with their UIDs. It refuses where no backup must
// be made: a restore would resume what a person has paused, and an interrupted move leaves an incomplete definition.
func still(ctx context.Context, side clusters.Side, scope clusters.Scope, further ...string) ([]string, error) {
	holds, err := clusters.Hold(ctx, side.Client, scope)
	if err != nil {
		return nil, unread(err)
	}
	if holds.Cluster(scope.Cluster) == nil {
		return nil, refused(scope, "it does not hold its own definition",
			"If a pivot was interrupted, run cluster-init up, which finishes it.")
	}
	if paused := holds.Paused(); len(paused) > 0 {
		var names []string
		for _, o := range paused {
			names = append(names, o.String())
		}
		return nil, refused(scope, strings.Join(names, ", ")+" is paused: by a person, or by a move that is under way "+
			"or was interrupted",
			"Wait for the end of the move, or run cluster-init up, which finishes one that was interrupted. Resume "+
				"what a person has paused.")
	}
	for _, namespace := range further {
		others, err := capi.Clusters(ctx, side.Client, namespace)
		if err != nil {
			return nil, unread(err)
		}
		for _, c := range others {
			if c.Paused {
				return nil, refused(scope, c.String()+" has just been paused", "Run the same command again.")
			}
		}
		holds.Clusters = append(holds.Clusters, others...)
	}
	var all []string
	for _, c := range holds.Clusters {
		if c.Deleting {
			return nil, refused(scope, c.String()+" is being deleted", "Use an earlier backup.")
		}
		all = append(all, c.String()+" "+string(c.UID))
	}
	return all, nil
}

func refused(scope clusters.Scope, why, hint string) error {
	return fault.New(fault.BackupRefused, fmt.Sprintf("back up Cluster %s/%s: %s", scope.Namespace, scope.Cluster, why),
		hint)
}

func unread(err error) error {
	return fault.Retryable(fmt.Errorf("read what is to be backed up: %w", err), fault.ClusterUnreachable,
		"Check that the API server answers, and run the same command again.")
}
