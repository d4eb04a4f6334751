package up

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/rollout"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// changes compares what this run applies with what an earlier run applied to a cluster.
type changes struct {
	environment *environment.Environment
	source      source.Source
	allowed     []string // keys of the changes that may remove something
}

// check returns the environment that this run applies. It reports how its values differ from those of the last run, and
// refuses a change that removes something, unless the user allowed it. A built cluster keeps its stored values, except
// credentials, values that replace machines, and allowed keys. Every cluster gets a key for fingerprints of secrets.
func (c changes) check(ctx context.Context, o clusters.Observation, v verdict,
	report pipeline.Reporter) (*environment.Environment, error) {
	applied, err := c.compare(ctx, o, v, report)
	if err != nil {
		return nil, err
	}
	return applied.WithFingerprintKey()
}

// compare compares with what the authority, the cluster that holds the definition, was last given.
func (c changes) compare(ctx context.Context, o clusters.Observation, v verdict,
	report pipeline.Reporter) (*environment.Environment, error) {
	authority := o.Bootstrap.Cluster
	if v.decision == pivoted {
		authority = o.Management.Cluster
	}
	if authority == nil { // a fresh start
		c.reportShellValues(report)
		return c.environment, c.environment.CheckNewAuthorities(time.Now())
	}
	last, downgrades, err := c.lastApplied(ctx, authority)
	if err != nil {
		return nil, compareError(authority, err)
	}
	if last.Values == nil { // no earlier run has applied values of this cluster
		c.reportShellValues(report)
		return c.environment, environment.RefuseRemovals(downgrades, c.allowed)
	}
	machines, err := c.machines(ctx, o, v, authority)
	if err != nil {
		return nil, err
	}
	applied, err := c.effectiveValues(last, machines.built, report)
	if err != nil {
		return nil, compareError(authority, unparsableValues(err))
	}
	if !machines.built {
		if applied, err = c.keepAddress(o, applied, last); err != nil {
			return nil, compareError(authority, unparsableValues(err))
		}
	}
	valueChanges, err := applied.Changes(last)
	if err != nil {
		return nil, compareError(authority, unparsableValues(err))
	}
	reportChanges(slices.Concat(valueChanges, downgrades), report)
	if machines.built {
		if err := rollout.RefuseUnfinishedKeys(ctx, authority, applied, last, valueChanges); err != nil {
			return nil, err
		}
		if err := machines.reportReplaced(ctx, authority, applied, report); err != nil {
			return nil, err
		}
	} else {
		valueChanges = c.identityChanges(o, valueChanges)
		if err := applied.CheckNewAuthorities(time.Now()); err != nil {
			return nil, err
		}
	}
	return applied, environment.RefuseRemovals(slices.Concat(valueChanges, downgrades), c.allowed)
}

// effectiveValues returns the environment that this run applies. Only a built cluster keeps stored values.
func (c changes) effectiveValues(last environment.Objects, built bool, report pipeline.Reporter) (
	*environment.Environment, error) {
	if !built {
		c.reportShellValues(report)
		return c.environment, nil
	}
	applied, kept, err := c.environment.Keep(last, c.allowed)
	if err != nil {
		return nil, err
	}
	reportKept(report, kept)
	return applied, nil
}

// keepAddress returns the environment with the address of the API server that a cluster without machines was last
// given. If it was given none, only its Cluster can have another one.
func (c changes) keepAddress(o clusters.Observation, applied *environment.Environment, last environment.Objects) (
	*environment.Environment, error) {
	kept, err := applied.KeepAddress(last)
	if err == nil && kept.ManagedAddress() == "" && o.Bootstrap.Holds.Cluster(c.environment.ClusterName()) == nil {
		return applied, nil
	}
	return kept, err
}

// identityChanges returns those of all changes that can remove something although no machines exist. Without machines,
// only a change of the Cluster's identity can remove something, and only if the Cluster exists.
func (c changes) identityChanges(o clusters.Observation, all []environment.Change) []environment.Change {
	if o.Bootstrap.Holds.Cluster(c.environment.ClusterName()) == nil {
		return nil
	}
	return slices.DeleteFunc(all, func(change environment.Change) bool { return !changesClusterIdentity(change) })
}

// changesClusterIdentity reports whether a change renames the Cluster or replaces its provider. The old provider's
// first resources would be orphaned.
func changesClusterIdentity(c environment.Change) bool {
	return slices.Contains([]string{"cluster.infra_provider", "cluster.bootstrap_provider", "cluster.namespace",
		"cluster.name"}, c.Key)
}

func reportChanges(all []environment.Change, report pipeline.Reporter) {
	for _, change := range all {
		report.Progress("changed since the last run: %s", change)
	}
}

// unparsableValues returns the error for values in a cluster that cannot be parsed.
func unparsableValues(err error) error {
	return fault.Wrap(err, fault.CodeOr(err, fault.ClusterFailed),
		cmp.Or(fault.HintOf(err), "Correct the object with kubectl -n "+environment.Namespace+
			" edit. Or delete it: then no values are compared."))
}

// compareError returns the error for an authority whose values cannot be compared.
func compareError(authority *kube.Cluster, err error) error {
	return fault.Wrap(fmt.Errorf("compare with the values that the last run gave the %s cluster: %w", authority.Name,
		err), fault.CodeOr(err, fault.ClusterUnreachable),
		cmp.Or(fault.HintOf(err), "Run the same command again when the cluster can be read."))
}

// lastApplied returns the values that the last run applied to a cluster, and the parts that this run would downgrade.
// Without an earlier run there are no values.
func (c changes) lastApplied(ctx context.Context, cluster *kube.Cluster) (last environment.Objects,
	downgrades []environment.Change, err error) {
	if downgrades, err = c.downgrades(ctx, cluster); err != nil {
		return environment.Objects{}, nil, err
	}
	last, err = rollout.LastAppliedValues(ctx, cluster)
	// A run applies the values first, so without values there was no earlier run. A bootstrap cluster that the user
	// provides may hold the values of another cluster.
	if err != nil || last.Values == nil || last.Values.Labels[owned.ClusterLabel] != c.environment.ClusterName() {
		return environment.Objects{}, downgrades, err
	}
	return last, downgrades, nil
}

// downgrades returns the parts that this run would install in an older version than the installed one.
func (c changes) downgrades(ctx context.Context, cluster *kube.Cluster) ([]environment.Change, error) {
	var downgrades []environment.Change
	add := func(key, installed, wanted string) {
		if environment.Older(wanted, installed) {
			downgrades = append(downgrades, environment.Change{Key: key, From: installed, To: wanted,
				TakesAway: "an older version may not read what the newer one wrote"})
		}
	}
	for _, name := range flux.Controllers() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: flux.Namespace}}
		exists, err := cluster.Exists(ctx, d)
		if err != nil {
			return nil, err
		}
		if exists {
			add("flux", d.Labels[flux.VersionLabel], flux.Version)
		}
		if len(downgrades) > 0 { // one newer controller is enough: an interrupted upgrade leaves two versions
			break
		}
	}
	chart := c.chartVersion()
	if chart == "" {
		return downgrades, nil
	}
	release := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: flux.ReleaseName, Namespace: flux.Namespace}}
	exists, err := cluster.Exists(ctx, release) // false without the CRD, so before Flux is installed
	if err != nil {
		return nil, err
	}
	if latest := release.Status.History.Latest(); exists && latest != nil {
		add("chart", latest.ChartVersion, chart)
	}
	return downgrades, nil
}

// chartVersion returns the version of the chart that this run would install. It is empty if only Flux reads the
// version, from a Git repository.
func (c changes) chartVersion() string {
	switch c.source.Kind {
	case source.Embedded:
		return c.environment.ChartVersion()
	case source.OCI: // a chart's tag is its version
		return c.source.Chart.Tag
	}
	return ""
}
