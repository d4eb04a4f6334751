package up

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/bootstrap"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// Step is a phase that a run has not begun, and what it would do.
type Step struct {
	Phase, Title string
	Does         string // what it would do, for people
	Done         bool   // there is nothing to do
	Seen         string // why there is nothing to do
	Unknown      error  // why it is not known whether there is something to do
}

// DryRun checks as Check does, and reports what each later phase would do now. If a check finds a problem, there are no
// steps: a run would stop before them. DryRun acquires no lease, starts nothing and changes nothing.
func (u *Run) DryRun(ctx context.Context) ([]Finding, []Step, error) {
	found := u.Check(ctx)
	if ErrOf(found) != nil {
		return found, nil, nil
	}
	does, err := u.does()
	if err != nil {
		return found, nil, err
	}
	var steps []Step
	pending, boots := false, false
	for _, p := range u.Phases() {
		if p.Looks {
			continue
		}
		if ctx.Err() != nil {
			return found, steps, context.Cause(ctx)
		}
		s := stepOf(ctx, p, pending)
		s.Does = does[p.Name]
		switch {
		case p.Name == "bootstrap-cluster":
			boots = !s.Done
		case p.Name == "bootstrap-removal" && boots && !u.keepsBootstrap(): // it is gone only until this run creates it
			s.Done, s.Seen = false, ""
		}
		pending = pending || !s.Done
		steps = append(steps, s)
	}
	return found, steps, nil
}

// stepOf checks whether a phase has something to do. It has if it needs a cluster that an earlier phase still has to
// create.
func stepOf(ctx context.Context, p pipeline.Phase, pending bool) Step {
	s := Step{Phase: p.Name, Title: p.Title}
	if p.Check == nil {
		return s
	}
	if p.Timeout > 0 {
		bounded, cancel := context.WithTimeout(ctx, p.Timeout)
		defer cancel()
		ctx = bounded
	}
	status, err := p.Check(ctx)
	switch {
	case err != nil && !(pending && errors.Is(err, clusters.ErrNotConnected)):
		s.Unknown = err
	case err == nil && status.State == pipeline.Done:
		s.Done, s.Seen = true, status.Message
	}
	return s
}

// does returns what each phase would do, by the phase's name.
func (u *Run) does() (map[string]string, error) {
	env, name := u.Environment, u.Environment.ClusterName()
	components := map[environment.Phase]string{}
	for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
		list, err := env.Components(phase)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, c := range list {
			names = append(names, c.Name)
		}
		components[phase] = strings.Join(names, ", ")
	}
	machines := fmt.Sprintf("%d control-plane machines and %d workers in %s", env.Spec().Cluster.ControlPlane.Replicas,
		env.Spec().Cluster.Worker.Replicas, u.world.Provider.Place())
	return map[string]string{
		"images":            bootstrap.Images{Bundle: u.Bundle}.Does(),
		"registry":          u.Supplies.Publishes(),
		"bootstrap-cluster": u.boots(),
		"bootstrap-flux":    "install Flux " + flux.Version + " in the bootstrap cluster",
		"management-cluster": fmt.Sprintf("install telco-cloud-init %s with the components %s in the bootstrap "+
			"cluster, which make cluster %s: %s, Kubernetes %s", env.ChartVersion(), components[environment.Bootstrap],
			name, machines, env.KubernetesVersion()),
		"management-flux": "install Flux " + flux.Version + " in the management cluster",
		"management-release": fmt.Sprintf("install telco-cloud-init %s with the components %s in the management "+
			"cluster, all but its definition", env.ChartVersion(), components[environment.Management]),
		"management-available": "wait until Cluster " + env.ClusterNamespace() + "/" + name +
			" is available with all its machines",
		"pivot": fmt.Sprintf("save what Cluster API holds in namespace %s to %s, and move it into the "+
			"management cluster", env.ClusterNamespace(), u.StateFolder),
		"definition":        "have the management cluster's Flux apply its own definition",
		"self-management":   "prove that the management cluster manages itself, and that no machine was replaced",
		"bootstrap-removal": "delete the kind cluster " + u.BootstrapName(),
	}, nil
}

func (u *Run) boots() string {
	if u.BootstrapKubeconfig != "" {
		return "use the cluster of " + u.BootstrapKubeconfig
	}
	return "make the kind cluster " + u.BootstrapName() + " of " + u.BootstrapImage()
}
