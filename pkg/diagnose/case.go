package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// Case is all that a diagnosis is made of: what was read of both clusters and of the machines at one moment.
type Case struct {
	Type          string         `json:"type"` // "diagnosis-case"
	SchemaVersion int            `json:"schemaVersion"`
	Environment   string         `json:"environment"`
	Scope         clusters.Scope `json:"scope"`
	Observed      []Signals      `json:"observed"` // what the look at the clusters and the machines shows by itself
	Clusters      []Seen         `json:"clusters"`
	NotChecked    []string       `json:"notChecked"` // what could not be read, and why

	silent bool // a cluster does not answer that should
}

const (
	caseType      = "diagnosis-case"
	schemaVersion = 2
)

// Seen is what was read of one cluster.
type Seen struct {
	readiness.Observation
	// Moved is whether its Flux is suspended for a pivot, Ends whether the management cluster is taken down: both are
	// meant to be so.
	Moved, Ends bool
	// Building is whether the cluster is not yet what it is to be: a run is making it, or moves its definition.
	Building bool
	Logs     []Lines   // of containers that ended, and of controllers about machines
	Said     []Signals // by machines, or of them by the cloud

	secretsUnknown bool // its Secrets could not be listed
}

// Lines are those of logs about one object.
type Lines struct {
	Object health.Ref
	Lines  []string
}

// Signals are those about one object.
type Signals struct {
	Object  health.Ref
	Signals []Signal
}

// Gather reads all that a diagnosis is made of, without the secrets that are known: of the environment, of both
// clusters, and those of more. It changes nothing.
func Gather(ctx context.Context, w *clusters.World, more *redact.Redactor) (Case, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	c, known := gather(ctx, w)
	return c.withoutUnknown().redacted(func(v any) any { return more.Value(known.Value(v)) })
}

// withoutUnknown leaves out what was read of a cluster whose Secrets are not known: any of it could hold one. So could
// any log, and what a machine says, where the Secrets of any cluster are not known.
func (c Case) withoutUnknown() Case {
	clusters := slices.Clone(c.Clusters)
	unknown := c.silent || slices.ContainsFunc(clusters, func(s Seen) bool { return s.secretsUnknown })
	for i, seen := range clusters {
		notChecked := slices.Clone(seen.NotChecked)
		switch {
		case seen.secretsUnknown:
			clusters[i] = Seen{Moved: seen.Moved, Ends: seen.Ends,
				Observation: readiness.Observation{Cluster: seen.Cluster,
					NotChecked: append(notChecked, "all of the "+seen.Cluster+
						" cluster: left out, as its Secrets are not known")}}
		case unknown:
			clusters[i].Logs, clusters[i].Said = nil, nil
			clusters[i].NotChecked = append(notChecked, "logs of the "+seen.Cluster+
				" cluster and what its machines say: left out, as the Secrets of another cluster are not known")
		}
	}
	c.Clusters = clusters
	return c
}

// gather returns the case with its secrets, and who knows them.
func gather(ctx context.Context, w *clusters.World) (Case, *redact.Redactor) {
	c := Case{Type: caseType, SchemaVersion: schemaVersion, Environment: w.EnvironmentName, Scope: w.Scope}
	_, _ = w.AskEngine(ctx) // that it is silent is seen below
	o := w.ObserveLasting(ctx)
	c.NotChecked = machinesUnknown(o, w.Provider)
	c.Observed = observedIn(o, kind.NodeName(w.BootstrapName()))
	// one that is still being made is none that should answer
	c.silent = o.Bootstrap.Err != nil || o.Management.Err != nil && o.Bootstrap.State != clusters.BootstrapActive
	known := redact.New()
	for _, document := range w.Secrets {
		known.Add(redact.FromValues(document)...)
	}
	if in := o.Bootstrap.Cluster; in != nil {
		c.Clusters = append(c.Clusters, see(ctx, in, side{scope: c.Scope, machines: w.Provider, registry: w.Registry(),
			moved: o.Bootstrap.Suspended, ends: o.Bootstrap.Down, building: true}, known))
	}
	if in := o.Management.Cluster; in != nil {
		c.Clusters = append(c.Clusters, see(ctx, in, side{scope: c.Scope, machines: w.Provider, registry: w.Registry(),
			moved: o.Management.Suspended, ends: o.Management.Down, building: !finished(o)}, known))
	}
	return c, known
}

// see reads one cluster.
func see(ctx context.Context, in *kube.Cluster, of side, known *redact.Redactor) Seen {
	seen := Seen{Observation: readiness.Observe(ctx, in, of.registry),
		Moved: of.moved, Ends: of.ends, Building: of.building}
	s := NewSnapshot(seen.Observation)
	if err := learnSecrets(ctx, in, known); err != nil {
		seen.secretsUnknown = true
		seen.NotChecked = append(seen.NotChecked, fmt.Sprintf("logs of the %s cluster and what its machines say, "+
			"which could hold secrets that are not known here: %v", in.Name, err))
	} else {
		seen.NotChecked = append(seen.NotChecked, s.readLogs(ctx, in)...)
	}
	if !of.moved && !of.ends && !seen.secretsUnknown {
		seen.NotChecked = append(seen.NotChecked, s.inspectMachines(ctx, of.machines)...)
	}
	for _, r := range sortedRefs(s.logs) {
		seen.Logs = append(seen.Logs, Lines{r, s.logs[r]})
	}
	for _, r := range sortedRefs(s.said) {
		seen.Said = append(seen.Said, Signals{r, s.said[r]})
	}
	return seen
}

func sortedRefs[T any](of map[health.Ref]T) []health.Ref {
	return slices.SortedFunc(maps.Keys(of), func(a, b health.Ref) int {
		return slices.Compare([]string{a.Group, a.String()}, []string{b.Group, b.String()})
	})
}

// Report says what is wrong. Rules of more come before those of the binary.
func (c Case) Report(more ...Rule) (Report, error) {
	rules, err := Rules()
	if err != nil {
		return Report{}, err
	}
	rules = withMore(rules, more)
	r := Report{Type: "diagnosis", SchemaVersion: 1, Environment: c.Environment, Clusters: []string{},
		Findings: []Finding{}, Waiting: []Finding{}, NotChecked: append([]string{}, c.NotChecked...)}
	for _, each := range c.Observed {
		r.observed(each, rules)
	}
	for _, seen := range c.Clusters {
		r.judge(seen, side{scope: c.Scope, moved: seen.Moved, ends: seen.Ends, building: seen.Building}, rules)
	}
	r.sort()
	return r, nil
}

// judge adds what is wrong in one cluster.
func (r *Report) judge(seen Seen, of side, rules []Rule) {
	r.Clusters = append(r.Clusters, seen.Cluster)
	r.NotChecked = append(r.NotChecked, seen.NotChecked...)
	s := NewSnapshot(seen.Observation)
	for _, each := range seen.Logs {
		s.logs[each.Object] = each.Lines
	}
	for _, each := range seen.Said {
		s.said[each.Object] = each.Signals
	}
	findings, waiting := s.examine(s.roots(of), rules)
	unhealthy := slices.DeleteFunc(unhealthy(seen, findings), r.wasSaid)
	r.Findings = append(r.Findings, slices.Concat(unhealthy, findings)...)
	r.Waiting = append(r.Waiting, unexplained(waiting, unhealthy)...)
}

// redacted returns a copy that has gone through clean, as JSON does.
func (c Case) redacted(clean func(any) any) (Case, error) {
	for i := range c.Clusters { // a schema has no values, and annotations repeat objects
		for _, o := range c.Clusters[i].Objects {
			o.SetManagedFields(nil)
			unstructured.RemoveNestedField(o.Object, "metadata", "annotations",
				"kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	var values any
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	if err == nil {
		text, err = json.Marshal(clean(values))
	}
	var out Case
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return Case{}, fmt.Errorf("take secrets out of what was read: %w", err)
	}
	return out, nil
}

// ReadCase reads what Gather returned, as JSON. Its errors have the code fault.Usage.
func ReadCase(from io.Reader) (Case, error) {
	var c Case
	const hint = "Name a file that cluster-init collect wrote."
	if err := json.NewDecoder(from).Decode(&c); err != nil {
		return Case{}, fault.Wrap(fmt.Errorf("read what was collected: %w", err), fault.Usage, hint)
	}
	if c.Type != caseType || c.SchemaVersion != schemaVersion {
		return Case{}, fault.New(fault.Usage,
			fmt.Sprintf("what was collected is of type %q, version %d; this binary reads %q, version %d", c.Type,
				c.SchemaVersion, caseType, schemaVersion),
			"Use the version of cluster-init that wrote it.")
	}
	if err := c.whole(); err != nil {
		return Case{}, fault.Wrap(fmt.Errorf("read what was collected: %w", err), fault.Usage, hint)
	}
	return c, nil
}

// whole refuses what Gather never writes.
func (c Case) whole() error {
	for _, o := range c.Observed {
		if len(o.Signals) == 0 {
			return fmt.Errorf("nothing is said of %s", o.Object)
		}
	}
	for _, seen := range c.Clusters {
		if slices.Contains(seen.Objects, nil) || slices.Contains(seen.Events, nil) {
			return fmt.Errorf("an object of the %s cluster is empty", seen.Cluster)
		}
	}
	return nil
}
