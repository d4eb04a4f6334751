package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// RemovalPlan is what a run of `uninstall` would delete.
type RemovalPlan struct {
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	Server    string `json:"server"`
	// Components are in the order of their deletion.
	Components  []string `json:"components"`
	Definitions int      `json:"definitions"`
	Namespaces  []string `json:"namespaces"`
	Flux        bool     `json:"flux"`
	Registry    string   `json:"registry,omitempty"`
	// Stays describes what stays, with the reason.
	Stays []string `json:"stays"`
	// Nothing reports that the cluster has no release.
	Nothing bool `json:"nothing"`
}

// Plan observes the cluster and the registry, acquires no lease, and changes nothing. It returns the error of a run
// that could not begin.
func (r *Removal) Plan(ctx context.Context) (RemovalPlan, error) {
	p := RemovalPlan{Namespace: r.Namespace, Cluster: r.Cluster, Components: []string{}, Namespaces: []string{},
		Stays: []string{}}
	if err := r.connect(ctx); err != nil {
		return p, err
	}
	p.Server = r.cluster.Config.Host
	found, err := r.judged(ctx)
	if err != nil {
		return p, err
	}
	for _, k := range dependentsFirst(found.kustomizations) {
		p.Components = append(p.Components, k.Name)
	}
	p.Flux = !found.fluxIsUsed() && slices.ContainsFunc(found.flux, func(o object) bool { return !found.keeps(o) })
	for _, o := range found.lost() {
		switch {
		case found.keeps(o):
		case o.Kind == "Namespace":
			p.Namespaces = append(p.Namespaces, o.Name)
		case o.Kind == crdKind().Kind:
			p.Definitions++
		}
	}
	slices.Sort(p.Namespaces)
	p.Namespaces = slices.Compact(p.Namespaces)
	p.Stays = append(p.Stays, found.stays()...)
	p.Nothing = !found.installed
	registry, err := r.registry(ctx)
	if err != nil {
		p.Stays = append(p.Stays, "a registry, if there is one: "+err.Error())
	}
	p.Registry = registry
	return p, nil
}

// Print writes the plan for people.
func (p RemovalPlan) Print(out io.Writer) error {
	var b strings.Builder
	if p.Nothing {
		oneline.Fprintf(&b, "The cluster at %s has no release of %s/%s.\n", p.Server, p.Namespace, p.Cluster)
	} else {
		oneline.Fprintf(&b, "The cluster at %s is the management cluster %s/%s.\n", p.Server, p.Namespace, p.Cluster)
	}
	for _, name := range p.Components {
		oneline.Fprintf(&b, "  delete component %s\n", name)
	}
	for _, name := range p.Namespaces {
		oneline.Fprintf(&b, "  delete namespace %s, with all that is in it\n", name)
	}
	if p.Definitions > 0 {
		oneline.Fprintf(&b, "  delete %s, with all objects of their kinds\n",
			oneline.Count(p.Definitions, "CustomResourceDefinition"))
	}
	if !p.Nothing {
		fmt.Fprintln(&b, "  delete the release, its values and its source")
	}
	if p.Flux {
		fmt.Fprintln(&b, "  delete Flux")
	}
	if p.Registry != "" {
		oneline.Fprintf(&b, "  delete registry %s on this machine\n", p.Registry)
	}
	for _, what := range p.Stays {
		oneline.Fprintf(&b, "  keep %s\n", what)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// registry returns the name of the registry that serves this cluster, container or volume; empty if there is none.
func (r *Removal) registry(ctx context.Context) (string, error) {
	name := owned.Registry(r.Cluster)
	container, err := r.world.Docker.Inspect(ctx, name)
	labels := container.Labels
	if errors.Is(err, docker.ErrNotFound) {
		labels, err = r.world.Docker.VolumeLabels(ctx, name)
	}
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("see whether registry %s exists: %w", name, err)
	case labels[owned.ClusterLabel] != r.Cluster || labels[owned.ServesLabel] != r.id:
		return "", nil
	}
	return name, nil
}

// removeRegistry deletes the registry that the cluster read from, with its volume and its image.
func (r *Removal) removeRegistry(ctx context.Context, report pipeline.Reporter) error {
	name, err := r.registry(ctx)
	if err != nil {
		report.Warn("%v. On the machine of the registry, delete it with cluster-init cleanup %s --force %s.", err,
			r.Argument, r.Cluster)
		return nil
	}
	if name == "" {
		return nil
	}
	cleaner := r.Cleaner
	cleaner.OnResult = func(result cleanup.Result) { report.Progress("%s", result) }
	plan, err := cleaner.Plan(ctx)
	if err != nil {
		return err
	}
	plan.Delete = slices.DeleteFunc(plan.Delete, func(i cleanup.Item) bool {
		return !slices.Contains([]cleanup.Kind{cleanup.Registry, cleanup.Volume, cleanup.Image, cleanup.Network},
			i.Kind)
	})
	_, err = cleaner.Run(ctx, plan)
	return err
}
