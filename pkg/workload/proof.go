package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

const (
	// proofBound limits the wait for the last resources: lists of a cloud may show a resource after its deletion.
	proofBound    = 2 * time.Minute
	proofInterval = 5 * time.Second
)

// checkGone fails while the infrastructure has resources of the cluster, although its Cluster is gone. It warns if that
// cannot be checked.
func (d Deletion) checkGone(ctx context.Context, report pipeline.Reporter) error {
	place, left, err := d.inventory(ctx)
	if err != nil {
		report.Warn("not checked: whether the infrastructure has resources of %s: %v", d.Key, err)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, proofBound)
	defer cancel()
	tick := time.NewTicker(proofInterval)
	defer tick.Stop()
	for last := ""; ; {
		names, err := left(ctx)
		switch {
		case fault.CodeOf(err) == fault.ClusterForeign:
			return err
		case err != nil && ctx.Err() == nil:
			report.Warn("not checked: whether the infrastructure has resources of %s: %v", d.Key, err)
			return nil
		case err == nil && len(names) == 0:
			report.Progress("%s has no resources of %s", place, d.Key)
			return nil
		case err == nil:
			last = strings.Join(names, ", ")
			report.Waiting("the deletion of "+last, nil)
		}
		select {
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("%s still has resources of %s: %s", place, d.Key, last),
				fault.CleanupFailed, fmt.Sprintf("List them with %s, delete them, and run the same command again.",
					d.cleanupCommand()))
		case <-tick.C:
		}
	}
}

// inventory returns a function that lists what the infrastructure has of the cluster, and the name of the place.
func (d Deletion) inventory(ctx context.Context) (place string, left func(context.Context) ([]string, error),
	err error) {
	from, err := d.storedProvider(ctx)
	if err != nil {
		return "", nil, err
	}
	if cleaner, is := from.(provider.Cleaner); is {
		leftovers, err := cleaner.Leftovers(ctx)
		if err != nil {
			return "", nil, err
		}
		return from.Place(), func(ctx context.Context) ([]string, error) { return leftIn(ctx, leftovers) }, nil
	}
	if unsupported, is := from.(provider.CleanupUnsupported); is {
		return "", nil, fmt.Errorf("cluster-init cannot list resources in %s; list them with %s", from.Place(),
			unsupported.Find(d.Key.Name))
	}
	return from.Place(), func(ctx context.Context) ([]string, error) {
		machines, err := from.Machines(ctx)
		var names []string
		for _, m := range machines {
			names = append(names, m.Name)
		}
		return names, err
	}, nil
}

// leftIn returns the kinds and names of what a cluster has left in a cloud. A kind that cannot be listed is an error.
func leftIn(ctx context.Context, leftovers provider.Leftovers) ([]string, error) {
	found, err := leftovers.Look(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range append(found.Delete, found.Stays...) {
		names = append(names, l.Kind+" "+l.Name)
	}
	if len(names) == 0 && len(found.Unknown) > 0 {
		return nil, fmt.Errorf("list %s: %w", found.Unknown[0].Kind, found.Unknown[0].Why)
	}
	return names, nil
}

// errNotStored reports that the values of a workload cluster are not stored.
var errNotStored = errors.New("its values are not stored")

// storedValues returns the cluster's stored values. Secrets may be missing.
func (d Deletion) storedValues(ctx context.Context) (environment.Objects, error) {
	named := environment.WorkloadObjects(d.Key.Namespace, d.Key.Name)
	given, err := rollout.ReadValues(ctx, d.Management, named)
	if err == nil && given.Values == nil {
		err = fmt.Errorf("%w: ConfigMap %s does not exist", errNotStored, client.ObjectKeyFromObject(named.Values))
	}
	return given, err
}

// storedProvider returns the provider of the cluster's machines, by its stored values.
func (d Deletion) storedProvider(ctx context.Context) (provider.Provider, error) {
	given, err := d.storedValues(ctx)
	if err != nil {
		return nil, err
	}
	return d.Provider(given)
}

// cleanupCommand is the command that lists and deletes what the infrastructure has of the cluster.
func (d Deletion) cleanupCommand() string {
	return fmt.Sprintf("cluster-init cleanup ENVIRONMENT --set cluster.name=%s --set cluster.namespace=%s",
		d.Key.Name, d.Key.Namespace)
}
