package cleanup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// Left reports how many resources a cluster has left, and where.
type Left struct {
	// Cluster is the name in labels and markers in docker. In a cloud it is the name in tags, <namespace>-<cluster>.
	Cluster string `json:"cluster"`
	Where   Where  `json:"where"`
	Things  int    `json:"things"`
}

// Survey lists the clusters that have left containers, volumes or resources in a cloud, by the labels, markers and tags
// of cluster-init. A nil cloud is not checked. Any query that fails is an error.
func Survey(ctx context.Context, engine Engine, cloud provider.Leftovers) ([]Left, error) {
	counts := map[Left]int{}
	if err := surveyContainers(ctx, engine, counts); err != nil {
		return nil, err
	}
	volumes, err := engine.Volumes(ctx, docker.Filter{Labels: []string{owned.ClusterLabel}})
	if err != nil {
		return nil, fmt.Errorf("looking for volumes: %w", err)
	}
	for _, name := range volumes {
		labels, err := engine.VolumeLabels(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("looking at volume %s: %w", name, err)
		}
		counts[Left{Cluster: labels[owned.ClusterLabel], Where: InDocker}]++
	}
	if cloud != nil {
		if err := surveyCloud(ctx, cloud, counts); err != nil {
			return nil, err
		}
	}
	var all []Left
	for l, count := range counts {
		all = append(all, Left{l.Cluster, l.Where, count})
	}
	slices.SortFunc(all, func(a, b Left) int {
		return strings.Compare(string(a.Where)+a.Cluster, string(b.Where)+b.Cluster)
	})
	return all, nil
}

func surveyContainers(ctx context.Context, engine Engine, counts map[Left]int) error {
	for _, label := range []string{kind.ClusterLabel, owned.ClusterLabel} {
		containers, err := labelled(ctx, engine, label)
		if err != nil {
			return err
		}
		for _, c := range containers {
			if cluster := clusterOf(c); cluster != "" {
				counts[Left{Cluster: cluster, Where: InDocker}]++
			}
		}
	}
	return nil
}

// clusterOf returns the cluster whose marker or label a container has.
func clusterOf(c docker.Container) string {
	for _, m := range c.Mounts {
		if cluster, isMarker := owned.ClusterOfMarker(m.Target); isMarker {
			return cluster
		}
	}
	return c.Labels[owned.ClusterLabel]
}

func surveyCloud(ctx context.Context, cloud provider.Leftovers, counts map[Left]int) error {
	found, err := cloud.Survey(ctx)
	if err != nil {
		return fmt.Errorf("looking at the cloud: %w", err)
	}
	for _, r := range found {
		counts[Left{Cluster: r.Cluster, Where: Where(r.Where)}] += r.Things
	}
	return nil
}
