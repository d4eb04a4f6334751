package up

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
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

// check reports how the values of this run differ from those that the authoritative cluster was last given. It refuses
// a change that removes something, unless the user allowed it. It returns the environment that this run applies. A
// cluster that was built keeps its own values for everything that only the shell sets.
func (c changes) check(ctx context.Context, o clusters.Observation, v verdict,
	report pipeline.Reporter) (*environment.Environment, error) {
	applied, err := c.compare(ctx, o, v, report)
	if err != nil {
		return nil, err
	}
	return applied.WithFingerprintKey()
}

func (c changes) compare(ctx context.Context, o clusters.Observation, v verdict,
	report pipeline.Reporter) (*environment.Environment, error) {
	counts := o.Bootstrap.Cluster
	if v.decision == pivoted {
		counts = o.Management.Cluster
	}
	if counts == nil { // a fresh start
		c.sayShell(report)
		return c.environment, nil
	}
	last, older, err := c.of(ctx, counts)
	if err != nil {
		return nil, unread(counts, err)
	}
	if last.Values == nil { // no earlier run has applied values of this cluster
		c.sayShell(report)
		return c.environment, refused(older, c.allowed)
	}
	machines, err := c.machines(ctx, o, v, counts)
	if err != nil {
		return nil, err
	}
	applied := c.environment
	if machines.built {
		var kept []environment.Kept
		if applied, kept, err = c.environment.Keep(last, c.allowed); err != nil {
			return nil, unread(counts, broken(err))
		}
		sayKept(report, kept)
	} else {
		c.sayShell(report)
	}
	given, err := applied.Changes(last)
	if err != nil {
		return nil, unread(counts, broken(err))
	}
	for _, change := range slices.Concat(given, older) {
		report.Progress("another value than last time: %s", change)
	}
	if !machines.built {
		there := o.Bootstrap.Holds.Cluster(c.environment.ClusterName()) != nil
		given = slices.DeleteFunc(given, func(change environment.Change) bool { return !there || !ofCluster(change) })
	} else if err := machines.sayReplaced(ctx, counts, applied, report); err != nil {
		return nil, err
	}
	return applied, refused(slices.Concat(given, older), c.allowed)
}

// broken returns the error for values in a cluster that cannot be parsed.
func broken(err error) error {
	return fault.Wrap(err, fault.CodeOr(err, fault.ClusterFailed),
		cmp.Or(fault.HintOf(err), "Put it right with kubectl -n "+environment.Namespace+
			" edit, or delete it: then nothing is compared."))
}

func unread(counts *kube.Cluster, err error) error {
	return fault.Wrap(fmt.Errorf("compare with what the %s cluster was last given: %w", counts.Name, err),
		fault.CodeOr(err, fault.ClusterUnreachable),
		cmp.Or(fault.HintOf(err), "Run the same command again when it can be read."))
}

// ofCluster reports whether a change makes a Cluster without machines another Cluster. What its provider created before
// the first machine would be left behind.
func ofCluster(c environment.Change) bool {
	return slices.Contains([]string{"cluster.infra_provider", "cluster.bootstrap_provider", "cluster.namespace",
		"cluster.name"}, c.Key)
}

// refused returns an error for the changes that remove something and that the user did not allow.
func refused(changes []environment.Change, allowed []string) error {
	var what, keys []string
	for _, c := range changes {
		if c.TakesAway != "" && !slices.Contains(allowed, c.Key) {
			what = append(what, fmt.Sprintf("%s (%s)", c, c.TakesAway))
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return fault.New(fault.ChangeRefused, "this run would take something away from the cluster: "+
		strings.Join(what, "; "),
		"Nothing was changed. Ask for what the cluster was given last time, or, if it is meant: --allow-changes "+
			strings.Join(keys, ",")+".")
}

// of returns the values that a cluster was last given, and the parts that this run would downgrade. Without an earlier
// run there are no values.
func (c changes) of(ctx context.Context, cluster *kube.Cluster) (last environment.Objects, older []environment.Change,
	err error) {
	if older, err = c.olderParts(ctx, cluster); err != nil {
		return environment.Objects{}, nil, err
	}
	last, err = rollout.LastAppliedValues(ctx, cluster)
	// A run applies the values first, so without values there was no earlier run. A bootstrap cluster that the user
	// provides may hold the values of another cluster.
	if err != nil || last.Values == nil || last.Values.Labels[owned.ClusterLabel] != c.environment.ClusterName() {
		return environment.Objects{}, older, err
	}
	return last, older, nil
}

// olderParts returns the parts that this run would install in an older version than the installed one.
func (c changes) olderParts(ctx context.Context, cluster *kube.Cluster) ([]environment.Change, error) {
	var older []environment.Change
	add := func(key, from, to string) {
		if environment.Older(to, from) {
			older = append(older, environment.Change{Key: key, From: from, To: to,
				TakesAway: "an older version may not read what the newer one wrote"})
		}
	}
	for _, name := range flux.Controllers() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: flux.Namespace}}
		there, err := cluster.Exists(ctx, d)
		if err != nil {
			return nil, err
		}
		if there && len(older) == 0 { // all have one version
			add("flux", d.Labels[flux.VersionLabel], flux.Version)
		}
	}
	chart := c.chart()
	if chart == "" {
		return older, nil
	}
	hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: flux.ReleaseName, Namespace: flux.Namespace}}
	there, err := cluster.Exists(ctx, hr)
	if meta.IsNoMatchError(err) { // Flux is not installed
		return older, nil
	}
	if last := hr.Status.History.Latest(); there && last != nil {
		add("chart", last.ChartVersion, chart)
	}
	return older, err
}

// chart returns the version of the chart that this run would install. It is empty if only Flux reads the version, from
// a Git repository.
func (c changes) chart() string {
	switch c.source.Kind {
	case source.Embedded:
		return c.environment.ChartVersion()
	case source.OCI: // a chart's tag is its version
		return c.source.Chart.Tag
	}
	return ""
}
