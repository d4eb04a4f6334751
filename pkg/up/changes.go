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

// changes compares what this run is asked for with what a cluster holds of an earlier one.
type changes struct {
	environment *environment.Environment
	source      source.Source
	allowed     []string // keys of those that may take something away
}

// check says how what this run is asked for differs from what the cluster that counts was last given, and refuses what
// takes something away, unless the user named it. It returns the environment that this run applies: of what only the
// shell gives, a cluster that was built keeps its own.
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
	if last.Values == nil { // it was given nothing of this cluster yet
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

// broken is the error for values of a cluster that cannot be read as such.
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

// ofCluster says whether a Cluster without any machine is another one by a change: what its provider made before the
// first machine would be left behind.
func ofCluster(c environment.Change) bool {
	return slices.Contains([]string{"cluster.infra_provider", "cluster.bootstrap_provider", "cluster.namespace",
		"cluster.name"}, c.Key)
}

// refused is the error for those changes that take something away and that the user did not name.
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

// of returns what a cluster was last given, nothing where there was no earlier run, and which of its parts this run
// would make older.
func (c changes) of(ctx context.Context, cluster *kube.Cluster) (last environment.Objects, older []environment.Change,
	err error) {
	if older, err = c.olderParts(ctx, cluster); err != nil {
		return environment.Objects{}, nil, err
	}
	last, err = rollout.LastAppliedValues(ctx, cluster)
	// The values are applied first of all. A bootstrap cluster of the user's own may hold those of another cluster.
	if err != nil || last.Values == nil || last.Values.Labels[owned.ClusterLabel] != c.environment.ClusterName() {
		return environment.Objects{}, older, err
	}
	return last, older, nil
}

// olderParts returns what this run would install in an older version than the one that is there.
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
		if there && len(older) == 0 { // all are of one version
			add("flux", d.Labels[flux.VersionLabel], flux.Version)
		}
	}
	chart := c.chart()
	if chart == "" {
		return older, nil
	}
	hr := &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: flux.ReleaseName, Namespace: flux.Namespace}}
	there, err := cluster.Exists(ctx, hr)
	if meta.IsNoMatchError(err) { // without Flux
		return older, nil
	}
	if last := hr.Status.History.Latest(); there && last != nil {
		add("chart", last.ChartVersion, chart)
	}
	return older, err
}

// chart is the version of the chart that this run would install; empty where only Flux knows it, which reads it from a
// Git repository.
func (c changes) chart() string {
	switch c.source.Kind {
	case source.Embedded:
		return c.environment.ChartVersion()
	case source.OCI: // a chart's tag is its version
		return c.source.Chart.Tag
	}
	return ""
}
