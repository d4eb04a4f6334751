package pivot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Keep backs up the definition that a cluster holds, with the other objects of its environment, and returns the path of
// the backup. It changes nothing in the cluster. It refuses, with the code fault.BackupRefused, a definition that is
// incomplete, paused or being deleted.
func (k Keeper) Keep(ctx context.Context, side clusters.Side, scope clusters.Scope,
	environment []*unstructured.Unstructured) (
	string, backup.Manifest, error) {
	before, err := still(ctx, side, scope)
	if err != nil {
		return "", backup.Manifest{}, err
	}
	graph, err := capi.Discover(ctx, side.Client, scope.Namespace)
	if err != nil {
		return "", backup.Manifest{}, unread(err)
	}
	staged, err := k.stage(ctx, side, scope, graph, graph.Moves(), environment)
	if err != nil {
		return "", backup.Manifest{}, fault.Wrap(fmt.Errorf("back up Cluster %s/%s: %w", scope.Namespace, scope.Cluster,
			err), fault.CodeOr(err, fault.BackupRefused),
			"Nothing was changed in the cluster. Check that it answers and that "+k.Dir+
				" can be written, and run the same command again.")
	}
	after, err := still(ctx, side, scope)
	if err == nil && !slices.Equal(before, after) {
		err = refused(scope, "its Clusters have changed while they were read", "Run the same command again.")
	}
	if err == nil {
		err = staged.Publish()
	}
	if err != nil {
		return "", backup.Manifest{}, errors.Join(err, staged.Discard())
	}
	return staged.Path, staged.Manifest, nil
}

// MayKeep makes the checks that Keep makes first, with the same errors.
func MayKeep(ctx context.Context, side clusters.Side, scope clusters.Scope) error {
	_, err := still(ctx, side, scope)
	return err
}

// still returns the Clusters of the scope with their UIDs, and refuses where no backup must be made. A restore would
// resume what a person has paused, and an interrupted move leaves an incomplete definition.
func still(ctx context.Context, side clusters.Side, scope clusters.Scope) ([]string, error) {
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
