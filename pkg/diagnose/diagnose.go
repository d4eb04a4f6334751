package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/readiness"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// diagnosisTimeout limits one diagnosis. What has not answered by then is not checked.
const diagnosisTimeout = 60 * time.Second

// Report is the result of a diagnosis.
type Report struct {
	Type          string `json:"type"` // "diagnosis"
	SchemaVersion int    `json:"schemaVersion"`
	Environment   string `json:"environment"`
	// Clusters are the clusters that were checked.
	Clusters []string `json:"clusters"`
	// Findings are the known causes. Waiting are objects that are not ready for an unknown cause.
	Findings []Finding `json:"findings"`
	Waiting  []Finding `json:"waiting"`
	// NotChecked lists what could not be checked, and why.
	NotChecked []string `json:"notChecked"`
}

// Run diagnoses both clusters and the machines, for at most a minute: the report lists what did not answer by then. The
// rules of more take precedence over the built-in rules. It changes nothing. If ctx ends, the report comes with an
// error.
func Run(ctx context.Context, w *clusters.World, more ...Rule) (Report, error) {
	bounded, cancel := context.WithTimeout(ctx, diagnosisTimeout)
	defer cancel()
	c, known := gather(bounded, w)
	r, err := c.Report(more...)
	if err != nil {
		return Report{}, err
	}
	r.redact(known)
	return r, ctx.Err()
}

// observed adds a problem that observing showed directly. If no rule matches, it adds the problem to Waiting, with its
// message as the cause.
func (r *Report) observed(o Signals, rules []Rule) {
	f, found := firstMatch(rules, o.Object, o.Signals)
	if !found {
		f = Finding{Object: o.Object.String(), Cause: o.Signals[0].Message, Message: o.Signals[0].Message}
	}
	f.Chain = []Link{{Object: f.Object, State: o.Signals[0].Reason, Message: o.Signals[0].Message}}
	if found {
		r.Findings = append(r.Findings, f)
	} else {
		r.Waiting = append(r.Waiting, f)
	}
}

// sort puts permanent causes before transient ones, and high confidence before low.
func (r *Report) sort() {
	weight := func(f Finding) int {
		n := 0
		if f.Transient {
			n += 2
		}
		if f.Confidence != readiness.HighConfidence {
			n++
		}
		return n
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return weight(a) - weight(b) })
}

// redact masks every known secret in the texts of the report. Names of objects stay.
func (r *Report) redact(redactor *redact.Redactor) {
	for _, list := range [][]Finding{r.Findings, r.Waiting} {
		for i := range list {
			f := &list[i]
			f.Cause, f.Remedy, f.Message = redactor.Text(f.Cause), redactor.Text(f.Remedy), redactor.Text(f.Message)
			for j := range f.Chain {
				f.Chain[j].Message = redactor.Text(f.Chain[j].Message)
			}
			for j := range f.Log {
				f.Log[j] = redactor.Text(f.Log[j])
			}
		}
	}
	for i := range r.NotChecked {
		r.NotChecked[i] = redactor.Text(r.NotChecked[i])
	}
}

// Err is the error of the command: fault.ComponentStuck if a cause was found, fault.ClusterUnreachable if no cluster
// answered.
func (r Report) Err() error {
	switch {
	case len(r.Findings) > 0:
		return fault.New(fault.ComponentStuck, fmt.Sprintf("found %s: %s",
			oneline.Count(len(r.Findings), "cause"), r.Findings[0].Cause), r.Findings[0].Remedy)
	case len(r.Clusters) == 0:
		return fault.New(fault.ClusterUnreachable, "no cluster of "+r.Environment+" answers"+because(r.Waiting),
			"If the cluster was never created, run cluster-init up.")
	}
	return nil
}

func because(waiting []Finding) string {
	var parts []string
	for _, f := range waiting {
		parts = append(parts, f.Object+": "+f.Message)
	}
	if len(parts) == 0 {
		return ": none was found"
	}
	return ": " + strings.Join(parts, "; ")
}

// fluxNamespace reports whether r is an object of Flux in its own namespace, which a run follows.
func fluxNamespace(r health.Ref) bool {
	return r.Namespace == flux.Namespace && isFlux(r)
}

func isFlux(r health.Ref) bool { return strings.HasSuffix(r.Group, ".toolkit.fluxcd.io") }
