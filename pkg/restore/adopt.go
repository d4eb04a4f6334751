package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
)

// Adoption is how far the target has adopted what was restored.
type Adoption struct {
	Unmet []selfmanaged.Unmet // unmet conditions of the Clusters and their Machines; none means healthy
	// Made and Gone are Machines that the target has created or lost since. It should have adopted all of them.
	Made, Gone []string
}

// Adopt checks once how far the target has adopted the Clusters of a restored backup.
func Adopt(ctx context.Context, target clusters.Side, b *backup.Backup) (Adoption, error) {
	input := Input{Backup: b}
	var a Adoption
	var clusters []capi.Cluster
	var machines []capi.Machine
	for _, namespace := range b.Manifest.Namespaces() {
		someClusters, err := capi.Clusters(ctx, target.Client, namespace)
		if err != nil {
			return a, fmt.Errorf("read the restored Clusters: %w", err)
		}
		someMachines, err := capi.Machines(ctx, target.Client, namespace)
		if err != nil {
			return a, fmt.Errorf("read the restored Machines: %w", err)
		}
		clusters, machines = append(clusters, someClusters...), append(machines, someMachines...)
	}
	restored := map[string]bool{}
	for _, o := range input.clusters() {
		restored[o.Namespace+"/"+o.Name] = true
		i := slices.IndexFunc(clusters, func(c capi.Cluster) bool { return c.Key() == o.Key() })
		switch {
		case i < 0:
			a.Unmet = append(a.Unmet, selfmanaged.Unmet{Aspect: selfmanaged.AspectCluster, Object: o.String(),
				Message: "does not exist any more"})
		case clusters[i].Paused:
			a.Unmet = append(a.Unmet, selfmanaged.Unmet{Aspect: selfmanaged.AspectCluster, Object: o.String(),
				Message: "is paused"})
		case !clusters[i].Available.True():
			a.Unmet = append(a.Unmet, selfmanaged.Unmet{Aspect: selfmanaged.AspectCluster, Object: o.String(),
				Message: clusters[i].Available.String(), Waiting: true})
		}
	}
	a.machines(b, machines, restored)
	return a, nil
}

// machines compares the Machines of the restored Clusters with those of the backup.
func (a *Adoption) machines(b *backup.Backup, machines []capi.Machine, restored map[string]bool) {
	var saved, existing []string
	for _, u := range b.Section(backup.Objects) {
		if o := capi.ObjectOf(u); o.Kind == "Machine" && o.Key().Group == clusterv1.GroupVersion.Group {
			saved = append(saved, o.String())
		}
	}
	for _, m := range machines {
		if !restored[m.Namespace+"/"+m.Cluster] {
			continue
		}
		existing = append(existing, m.String())
		if !m.Ready.True() {
			a.Unmet = append(a.Unmet, selfmanaged.Unmet{Aspect: selfmanaged.AspectMachines, Object: m.String(),
				Message: m.Ready.String(), Waiting: true})
		}
	}
	a.Made, a.Gone = without(existing, saved), without(saved, existing)
}

func without(all, known []string) []string {
	left := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(known, s) })
	slices.SortFunc(left, strings.Compare)
	return left
}

// Waiting reports whether time alone may fix something.
func (a Adoption) Waiting() bool {
	return slices.ContainsFunc(a.Unmet, func(u selfmanaged.Unmet) bool { return u.Waiting })
}
