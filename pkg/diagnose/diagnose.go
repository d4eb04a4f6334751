package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// bound is for one diagnosis: what has not answered by then is named as not looked at.
const bound = 60 * time.Second

// Report is what a diagnosis found.
type Report struct {
	Environment string `json:"environment"`
	// Clusters are those that were looked at.
	Clusters []string `json:"clusters"`
	// Findings are the causes that are known, Waiting is what is not ready and has no known cause.
	Findings []Finding `json:"findings"`
	Waiting  []Finding `json:"waiting"`
	// Unasked says what could not be looked at, and why.
	Unasked []string `json:"unasked"`
}

// Run looks at both clusters and at the machines, and says what is wrong. It changes nothing.
func Run(ctx context.Context, w *world.World) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	rules, err := Rules()
	if err != nil {
		return Report{}, err
	}
	r := Report{Environment: w.Environment.Name(), Clusters: []string{}, Findings: []Finding{}, Waiting: []Finding{}, Unasked: []string{}}
	_, _ = w.AskEngine(ctx) // that it is silent is seen below
	o := w.Observe(ctx)
	r.Unasked = append(r.Unasked, machinesUnknown(o, w.Provider)...)
	for _, each := range observedIn(o, kind.NodeName(w.BootstrapName())) {
		r.observed(each, rules)
	}
	redactor := redact.New()
	for _, document := range w.Environment.SecretDocuments() {
		redactor.Add(redact.FromValues(document)...)
	}
	if c := o.Bootstrap.Cluster; c != nil {
		r.examine(ctx, c, side{scope: w.Scope(), machines: w.Provider, moved: o.Bootstrap.Suspended, ends: o.Bootstrap.Down}, rules, redactor)
	}
	if c := o.Management.Cluster; c != nil {
		r.examine(ctx, c, side{scope: w.Scope(), machines: w.Provider, moved: o.Management.Suspended, ends: o.Management.Down}, rules, redactor)
	}
	r.sort()
	r.redact(redactor)
	return r, ctx.Err()
}

// observed adds what a look has shown; where no rule knows it, it speaks for itself.
func (r *Report) observed(o observed, rules []Rule) {
	f, found := firstMatch(rules, o.object, o.signals)
	if !found {
		f = Finding{Object: o.object.String(), Cause: o.signals[0].Message, Message: o.signals[0].Message}
	}
	f.Chain = []Link{{Object: f.Object, State: o.signals[0].Reason, Message: o.signals[0].Message}}
	if found {
		r.Findings = append(r.Findings, f)
	} else {
		r.Waiting = append(r.Waiting, f)
	}
}

// examine reads one cluster and adds what is wrong in it.
func (r *Report) examine(ctx context.Context, c *kube.Cluster, of side, rules []Rule, redactor *redact.Redactor) {
	r.Clusters = append(r.Clusters, c.Name)
	listed := Take(ctx, c)
	s := NewSnapshot(listed)
	r.Unasked = append(r.Unasked, listed.Unasked...)
	if err := learnSecrets(ctx, c, redactor); err != nil {
		r.Unasked = append(r.Unasked, fmt.Sprintf("logs of the %s cluster, which could hold secrets that are not known here: %v", c.Name, err))
	} else {
		r.Unasked = append(r.Unasked, s.readLogs(ctx, c)...)
	}
	if !of.moved && !of.ends {
		r.Unasked = append(r.Unasked, s.inspectMachines(ctx, of.machines)...)
	}
	findings, waiting := s.examine(s.roots(of), rules)
	r.Findings = append(r.Findings, findings...)
	r.Waiting = append(r.Waiting, waiting...)
}

// sort puts what does not go away by itself first, and what is certain before what is likely.
func (r *Report) sort() {
	weight := func(f Finding) int {
		n := 0
		if f.Heals {
			n += 2
		}
		if !f.Certain {
			n++
		}
		return n
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return weight(a) - weight(b) })
}

// redact takes every secret out that is known here.
func (r *Report) redact(redactor *redact.Redactor) {
	for _, list := range [][]Finding{r.Findings, r.Waiting} {
		for i := range list {
			f := &list[i]
			f.Cause, f.Cure, f.Message = redactor.Text(f.Cause), redactor.Text(f.Cure), redactor.Text(f.Message)
			for j := range f.Chain {
				f.Chain[j].Message = redactor.Text(f.Chain[j].Message)
			}
			for j := range f.Log {
				f.Log[j] = redactor.Text(f.Log[j])
			}
		}
	}
	for i := range r.Unasked {
		r.Unasked[i] = redactor.Text(r.Unasked[i])
	}
}

// Err is what the command ends with: fault.ClusterUnreachable when no cluster answered, fault.ComponentStuck when there is a cause that was found.
func (r Report) Err() error {
	switch {
	case len(r.Findings) > 0:
		return fault.New(fault.ComponentStuck, fmt.Sprintf("%s of what is not ready: %s", count(len(r.Findings), "cause"), r.Findings[0].Cause), r.Findings[0].Cure)
	case len(r.Clusters) == 0:
		return fault.New(fault.ClusterUnreachable, "no cluster of "+r.Environment+" answers"+because(r.Waiting), "If it was never made, cluster-init up "+r.Environment+" makes it.")
	}
	return nil
}

func because(waiting []Finding) string {
	var parts []string
	for _, f := range waiting {
		parts = append(parts, f.Object+": "+f.Message)
	}
	if len(parts) == 0 {
		return ", and there is none"
	}
	return ": " + strings.Join(parts, "; ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// fluxNamespace is where all is that a run follows.
func fluxNamespace(r health.Ref) bool {
	return r.Namespace == flux.Namespace && strings.HasSuffix(r.Group, ".toolkit.fluxcd.io")
}
