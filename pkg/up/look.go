package up

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// look finds out how far an earlier run came, and refuses where that cannot be known. What is ours and stopped it starts; it changes
// nothing else. The phases after it build on its verdict.
func (u *Run) look() pipeline.Phase {
	return pipeline.Phase{
		Name: "look", Title: "look for an earlier run", Timeout: 10 * time.Minute,
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			if err := registry.CheckOurs(ctx, u.Docker, u.Environment.ClusterName()); err != nil {
				return err
			}
			o, v, err := u.settleAlone(ctx, report)
			if err != nil {
				return err
			}
			if err := u.checkChanges(ctx, o, v, report); err != nil {
				return err
			}
			if v.warning != "" {
				report.Warn("%s", v.warning)
			}
			report.Progress("%s", v.why)
			return u.adopt(o, v)
		},
	}
}

// settle looks until a verdict can stand: it starts what is stopped, and asks again for a while what does not answer.
func (u *Run) settle(ctx context.Context, report pipeline.Reporter) (observation, verdict, error) {
	started := map[string]bool{}
	deadline := u.Now().Add(u.patience())
	for {
		o := u.observe(ctx)
		if err := ctx.Err(); err != nil {
			return o, verdict{}, fmt.Errorf("look at what is there: %w", err)
		}
		v := judge(o, u.request(o))
		switch {
		case v.decision == start:
			if err := u.startStopped(ctx, o, started, report); err != nil {
				return o, v, err
			}
			deadline = u.Now().Add(u.Timeout / 10) // an API server takes a while to come up
			continue
		case v.decision != refuse:
			return o, v, nil
		case !v.again || !u.Now().Before(deadline):
			return o, v, errors.Join(v.refusal, u.keepBootstrapKubeconfig(o.bootstrap.cluster)) // its hint may name the file
		}
		report.Waiting("an answer: "+v.refusal.Error(), nil)
		pause(ctx)
	}
}

// pause is between two looks.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(2 * time.Second):
	}
}

// patience is for how long what does not answer is asked again.
func (u *Run) patience() time.Duration { return u.Timeout / 60 }

// startStopped starts what is ours and stopped, as after a reboot, in the order in which it was made: registry, bootstrap cluster, machines.
// Docker gives out addresses in the order of the starts, and machines do not come up with others than they had.
func (u *Run) startStopped(ctx context.Context, o observation, started map[string]bool, report pipeline.Reporter) error {
	type container struct {
		name  string
		start func(context.Context) error
	}
	engine := func(name string) container {
		return container{name, func(ctx context.Context) error { return u.Docker.Start(ctx, name) }}
	}
	var stopped []container
	registry, err := u.Docker.Inspect(ctx, u.RegistryName())
	if err != nil && !errors.Is(err, docker.ErrNotFound) {
		return err
	}
	if err == nil && !registry.Running {
		stopped = append(stopped, engine(u.RegistryName()))
	}
	if o.bootstrap.state == bootstrapStopped {
		stopped = append(stopped, engine(kind.NodeName(u.BootstrapName())))
	}
	for _, m := range o.machines {
		if m.Stopped {
			stopped = append(stopped, container{m.Name, func(ctx context.Context) error { return u.Provider.Start(ctx, m) }})
		}
	}
	for _, c := range stopped {
		if started[c.name] {
			return fault.New(fault.ClusterUnreachable, c.name+" was started and stopped again at once", "See why: docker logs "+c.name)
		}
		started[c.name] = true
		report.Progress("starting %s, which is stopped", c.name)
		if err := c.start(ctx); err != nil {
			return fault.Wrap(err, fault.ClusterUnreachable, "See why: docker logs "+c.name)
		}
	}
	return nil
}

// adopt takes over the connections that the verdict is about.
func (u *Run) adopt(o observation, v verdict) error {
	u.found.bootstrap, u.found.management = o.bootstrap.cluster, o.management.cluster
	u.found.pivoted = v.decision == pivoted
	if o.management.cluster == nil {
		return nil
	}
	return u.save(o.management.cluster.Kubeconfig) // a load balancer that was started again publishes another port
}

// confirm looks again right before something is done that cannot be undone, and fails unless the verdict is the one that allows it.
func (u *Run) confirm(ctx context.Context, allows decision) (observation, error) {
	deadline := u.Now().Add(u.patience())
	var o observation
	var v verdict
	for {
		o = u.observe(ctx)
		if err := ctx.Err(); err != nil {
			return o, err
		}
		v = judge(o, u.request(o))
		if v.decision == allows {
			return o, nil
		}
		passes := v.again || v.decision == start // an answer may come late, and a container that is being made looks stopped
		if !passes || !u.Now().Before(deadline) {
			break
		}
		pause(ctx)
	}
	if v.decision == refuse {
		return o, errors.Join(v.refusal, u.keepBootstrapKubeconfig(o.bootstrap.cluster))
	}
	return o, fault.Retryable(fmt.Errorf("meanwhile something else has changed what there is: %s", u.different(v)), fault.ClusterFailed,
		"Is another run at work on this environment? When it is over, run the same command again.")
}

func (u *Run) different(v verdict) string {
	if v.why != "" {
		return v.why
	}
	return "something of " + u.Environment.ClusterName() + " was stopped"
}

// request is what verdicts about o need to know of this run.
func (u *Run) request(o observation) request {
	r := request{
		environment: u.Environment.Name(), cluster: u.Environment.ClusterName(), namespace: u.Environment.ClusterNamespace(),
		place: u.Provider.Place(), kubeconfig: u.KubeconfigPath, backups: u.StateFolder,
		source: u.side(o.bootstrap.cluster), target: u.side(o.management.cluster),
	}
	if u.BootstrapKubeconfig == "" {
		r.node = kind.NodeName(u.BootstrapName())
	}
	return r
}
