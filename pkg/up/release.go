package up

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// releases are the telco-cloud-init releases of this run: the same environment in both clusters.
type releases struct {
	environment *environment.Environment
	scope       clusters.Scope // of its cluster
	source      source.Source
	published   *content.Published // of an embedded source, once it is published
	heartbeat   time.Duration
	now         func() time.Time
	kinds       []schema.GroupVersionResource // of the infrastructure provider
	provider    provider.Provider             // makes the machines
	causes      func(context.Context) ([]rollout.Cause, error)
	keepWaiting bool
}

// forPhase returns the release of a phase of the chart. definition is false while another cluster owns the cluster
// definitions.
func (r releases) forPhase(phase environment.Phase, definition bool) rollout.Release {
	return rollout.Release{Environment: r.environment, Source: r.source, Published: *r.published, Phase: phase,
		Definition: definition}
}

// components returns the names of the components of a phase of the chart, for people.
func (r releases) components(phase environment.Phase) (string, error) {
	names, err := componentNames(r.environment, phase)
	return strings.Join(names, ", "), err
}

func componentNames(env *environment.Environment, phase environment.Phase) ([]string, error) {
	list, err := env.Components(phase)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.Name
	}
	return names, nil
}

// followOptions returns the options for following a cluster. dependency is another cluster whose components can block
// it. Nil means that there is none.
func (r releases) followOptions(dependency *kube.Cluster) rollout.Options {
	return rollout.Options{Heartbeat: r.heartbeat, Now: r.now, Kinds: r.kinds, Beside: dependency,
		Cluster: r.clusterKey(), Causes: r.causes, KeepWaiting: r.keepWaiting}
}

// follow watches the progress of a cluster until it reaches g.
func (r releases) follow(ctx context.Context, c *kube.Cluster, g rollout.Goal, dependency *kube.Cluster,
	report pipeline.Reporter) error {
	options := r.followOptions(dependency)
	if c.Name == clusters.ManagementName {
		options.Unanswered = r.moveAddress(report)
	}
	return rollout.NewFollower(c, options).Await(ctx, g, report)
}

// checkSource refuses a Git source whose chart has stale cluster definitions, before the cluster of a phase acts on it.
// A phase calls it before its last observation of the clusters: Flux may take minutes to fetch a source.
func (r releases) checkSource(
	ctx context.Context, w world, phase environment.Phase, report pipeline.Reporter,
) error {
	if r.source.Kind != source.Git {
		return nil
	}
	name := clusters.ManagementName
	if phase == environment.Bootstrap {
		name = clusters.BootstrapName
	}
	c, err := w.Connected(name)
	if err != nil {
		return err
	}
	return r.forPhase(phase, true).CheckSource(ctx, c, r.followOptions(nil), report)
}

// sync applies the release of the management cluster. It waits until the release and the objects of alsoReady are
// ready.
func (r releases) sync(ctx context.Context, c *kube.Cluster, definition bool, dependency *kube.Cluster,
	report pipeline.Reporter, alsoReady ...rollout.Key) error {
	release := r.forPhase(environment.Management, definition)
	token, err := release.Apply(ctx, c, clusters.Suspension(c, r.scope), r.now())
	if err != nil {
		return err
	}
	g := release.Goal(c, token)
	g.Ready = append(g.Ready, alsoReady...)
	return r.follow(ctx, c, g, dependency, report)
}

func (r releases) clusterKey() rollout.Key {
	return rollout.Key{Kind: "Cluster", Namespace: r.scope.Namespace, Name: r.scope.Cluster}
}
