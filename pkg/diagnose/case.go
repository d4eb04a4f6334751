package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// Case is the input of a diagnosis: what was read from both clusters and the machines at one moment.
type Case struct {
	Type          string         `json:"type"` // "diagnosis-case"
	SchemaVersion int            `json:"schemaVersion"`
	Environment   string         `json:"environment"`
	Scope         clusters.Scope `json:"scope"`
	Observed      []Signals      `json:"observed"` // problems that observing clusters and machines shows directly
	Clusters      []Seen         `json:"clusters"`
	NotChecked    []string       `json:"notChecked"` // what could not be read, and why

	silent   bool // a cluster that should answer does not
	workload bool // of a workload cluster
}

const (
	caseType      = "diagnosis-case"
	schemaVersion = 2
)

// Seen is what was read of one cluster.
type Seen struct {
	readiness.Observation
	// SuspendedForPivot reports that its Flux is suspended for a pivot, BeingDeleted that the management cluster is
	// being deleted. Both are intended.
	SuspendedForPivot bool `json:"Moved"`
	BeingDeleted      bool `json:"Ends"`
	// Building reports that the cluster is not complete yet: a run creates it or moves its definition.
	Building bool
	Logs     []Lines // of containers that ended
	// MachineSignals are what machines report, and the cloud and controllers report about them.
	MachineSignals []Signals `json:"Said"`

	secretsUnknown bool // its Secrets could not be listed
}

// Lines are lines of logs about one object.
type Lines struct {
	Object health.Ref
	Lines  []string
}

// Signals are the signals of one object.
type Signals struct {
	Object  health.Ref
	Signals []Signal
}

// Gather reads the input of a diagnosis. It masks the secrets of the environment, of both clusters and of more. It
// changes nothing.
func Gather(ctx context.Context, w *clusters.World, more *redact.Redactor) (Case, error) {
	ctx, cancel := context.WithTimeout(ctx, diagnosisTimeout)
	defer cancel()
	c, known := gather(ctx, w)
	return c.withoutUnknown().redacted(func(v any) any { return more.Value(known.Value(v)) })
}

// withoutUnknown removes everything that could hold an unknown secret. If the Secrets of a cluster could not be read,
// it removes all of that cluster. Then, or if a cluster is silent, it also removes all logs and all output of machines.
func (c Case) withoutUnknown() Case {
	kept := slices.Clone(c.Clusters)
	unknown := c.silent || slices.ContainsFunc(kept, func(s Seen) bool { return s.secretsUnknown })
	for i, seen := range kept {
		switch {
		case seen.secretsUnknown:
			kept[i] = Seen{SuspendedForPivot: seen.SuspendedForPivot, BeingDeleted: seen.BeingDeleted,
				Observation: readiness.Observation{Cluster: seen.Cluster,
					NotChecked: append(slices.Clone(seen.NotChecked), "all of the "+seen.Cluster+
						" cluster: left out, as its Secrets are not known")}}
		case unknown:
			kept[i].Logs, kept[i].MachineSignals = nil, nil
			kept[i].NotChecked = append(slices.Clone(seen.NotChecked), "logs of the "+seen.Cluster+
				" cluster and output of its machines: left out, as the Secrets of another cluster are not known")
		}
	}
	c.Clusters = kept
	return c
}

// gather returns the case with its secrets, and a redactor that knows them.
func gather(ctx context.Context, w *clusters.World) (Case, *redact.Redactor) {
	c := Case{Type: caseType, SchemaVersion: schemaVersion, Environment: w.EnvironmentName, Scope: w.Scope}
	_, _ = w.AskEngine(ctx) // a silent engine shows below
	o := w.ObserveLasting(ctx)
	c.NotChecked = machinesUnknown(o, w.Provider)
	c.Observed = observedIn(o, kind.NodeName(w.BootstrapName()))
	// a cluster that is still being created need not answer
	c.silent = o.Bootstrap.Err != nil || o.Management.Err != nil && o.Bootstrap.State != clusters.BootstrapActive
	known := redact.New()
	for _, document := range w.Secrets {
		known.Add(redact.FromValues(document)...)
	}
	if connected := o.Bootstrap.Cluster; connected != nil {
		c.Clusters = append(c.Clusters, see(ctx, connected, side{machines: w.Provider, registry: w.Registry(),
			suspendedForPivot: o.Bootstrap.Suspended, beingDeleted: o.Bootstrap.TeardownRequested,
			building: true}, known))
	}
	if connected := o.Management.Cluster; connected != nil {
		c.Clusters = append(c.Clusters, see(ctx, connected, side{machines: w.Provider, registry: w.Registry(),
			suspendedForPivot: o.Management.Suspended, beingDeleted: o.Management.TeardownRequested,
			building: !finished(o)}, known))
	}
	return c, known
}

// side is one of the two clusters of a run.
type side struct {
	scope clusters.Scope // only for roots
	// workload: the scope is a workload cluster's, and its release is in its namespace. Only for roots.
	workload bool
	// suspendedForPivot, beingDeleted: Flux is suspended for a pivot, or the management cluster is being deleted. Both
	// are intended.
	suspendedForPivot, beingDeleted bool

	// Only for see:
	machines provider.Provider
	registry readiness.Registry
	building bool // a run creates it or moves its definition
	// narrow leaves out what belongs to other clusters. Nil leaves out nothing.
	narrow func(readiness.Observation) readiness.Observation
}

// see reads one cluster.
func see(ctx context.Context, c *kube.Cluster, cluster side, known *redact.Redactor) Seen {
	seen := Seen{Observation: readiness.Observe(ctx, c, cluster.registry), Building: cluster.building,
		SuspendedForPivot: cluster.suspendedForPivot, BeingDeleted: cluster.beingDeleted}
	if cluster.narrow != nil {
		seen.Observation = cluster.narrow(seen.Observation)
	}
	s := NewSnapshot(seen.Observation)
	if err := learnSecrets(ctx, c, known); err != nil {
		seen.secretsUnknown = true
		seen.NotChecked = append(seen.NotChecked, fmt.Sprintf("logs of the %s cluster and output of its "+
			"machines, which could hold unknown secrets: %v", c.Name, err))
	} else {
		seen.NotChecked = append(seen.NotChecked, s.readLogs(ctx, c)...)
	}
	if !cluster.suspendedForPivot && !cluster.beingDeleted && !seen.secretsUnknown {
		seen.NotChecked = append(seen.NotChecked, s.inspectMachines(ctx, cluster.machines)...)
	}
	for _, r := range sortedRefs(s.logs) {
		seen.Logs = append(seen.Logs, Lines{r, s.logs[r]})
	}
	for _, r := range sortedRefs(s.machineSignals) {
		seen.MachineSignals = append(seen.MachineSignals, Signals{r, s.machineSignals[r]})
	}
	return seen
}

func sortedRefs[T any](objects map[health.Ref]T) []health.Ref {
	return slices.SortedFunc(maps.Keys(objects), func(a, b health.Ref) int {
		return slices.Compare([]string{a.Group, a.String()}, []string{b.Group, b.String()})
	})
}

// Report makes the diagnosis. The rules of more take precedence over the built-in rules.
func (c Case) Report(more ...Rule) (Report, error) {
	rules, err := Rules()
	if err != nil {
		return Report{}, err
	}
	rules = withMore(rules, more)
	r := Report{Type: "diagnosis", SchemaVersion: 1, Environment: c.Environment, Clusters: []string{},
		Findings: []Finding{}, Waiting: []Finding{}, NotChecked: append([]string{}, c.NotChecked...)}
	for _, problem := range c.Observed {
		r.observed(problem, rules)
	}
	for _, seen := range c.Clusters {
		r.judge(seen, side{scope: c.Scope, workload: c.workload, suspendedForPivot: seen.SuspendedForPivot,
			beingDeleted: seen.BeingDeleted}, rules)
	}
	r.sort()
	return r, nil
}

// judge adds the findings of one cluster.
func (r *Report) judge(seen Seen, cluster side, rules []Rule) {
	r.Clusters = append(r.Clusters, seen.Cluster)
	r.NotChecked = append(r.NotChecked, seen.NotChecked...)
	s := NewSnapshot(seen.Observation)
	for _, log := range seen.Logs {
		s.logs[log.Object] = log.Lines
	}
	for _, signals := range seen.MachineSignals {
		s.machineSignals[signals.Object] = signals.Signals
	}
	findings, waiting := s.examine(s.roots(cluster), rules)
	unhealthy := slices.DeleteFunc(unhealthy(seen, findings), r.alreadyReported)
	r.Findings = append(r.Findings, slices.Concat(unhealthy, findings)...)
	r.Waiting = append(r.Waiting, unexplained(waiting, unhealthy)...)
}

// learnSecrets adds the Secrets of a cluster to a redactor, without those of Helm's releases.
func learnSecrets(ctx context.Context, c *kube.Cluster, redactor *redact.Redactor) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	var list corev1.SecretList
	if err := c.List(ctx, &list, client.MatchingFieldsSelector{
		Selector: fields.OneTermNotEqualSelector("type", redact.HelmRelease)}); err != nil {
		return fmt.Errorf("list its Secrets: %w", err)
	}
	for _, secret := range list.Items {
		for key, value := range secret.Data {
			redactor.Add(redact.FromSecret(key, string(value))...)
		}
	}
	return nil
}

// redacted returns a copy whose JSON has passed through clean.
func (c Case) redacted(clean func(any) any) (Case, error) {
	for i := range c.Clusters { // no rule needs managed fields, and the annotation repeats the object
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
		return Case{}, fmt.Errorf("remove secrets from the case: %w", err)
	}
	return out, nil
}

// ReadCase reads what Gather returned, as JSON. Its errors have the code fault.Usage.
func ReadCase(from io.Reader) (Case, error) {
	var c Case
	const hint = "Name a file that cluster-init collect wrote."
	if err := json.NewDecoder(from).Decode(&c); err != nil {
		return Case{}, fault.Wrap(fmt.Errorf("read the collected case: %w", err), fault.Usage, hint)
	}
	if c.Type != caseType || c.SchemaVersion != schemaVersion {
		return Case{}, fault.New(fault.Usage,
			fmt.Sprintf("the collected case has type %q, version %d; this binary reads %q, version %d", c.Type,
				c.SchemaVersion, caseType, schemaVersion),
			"Use the version of cluster-init that wrote the file.")
	}
	if err := c.validate(); err != nil {
		return Case{}, fault.Wrap(fmt.Errorf("read the collected case: %w", err), fault.Usage, hint)
	}
	return c, nil
}

// validate refuses a case that Gather never writes.
func (c Case) validate() error {
	for _, o := range c.Observed {
		if len(o.Signals) == 0 {
			return fmt.Errorf("no signal for %s", o.Object)
		}
	}
	for _, seen := range c.Clusters {
		if slices.Contains(seen.Objects, nil) || slices.Contains(seen.Events, nil) {
			return fmt.Errorf("an object of the %s cluster is empty", seen.Cluster)
		}
	}
	return nil
}
