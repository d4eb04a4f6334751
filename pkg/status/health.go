package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// healthBound is for one observation of a cluster's health: what has not answered by then is named as not known.
const healthBound = 45 * time.Second

// Health is whether a management cluster can act, and what of it ends first.
type Health struct {
	// Findings are what keeps it from acting, and what is wrong and nothing waits for yet.
	Findings []Finding `json:"findings"`
	// FirstToEnd is the certificate or token that ends first of those that nothing renews by itself.
	FirstToEnd *End `json:"firstToEnd,omitempty"`
	// NotChecked is what could not be looked at, and why.
	NotChecked []string `json:"notChecked"`

	complete bool // all that decides was seen
}

// Finding is something that is wrong in a cluster, whatever its objects say of themselves.
type Finding struct {
	ID       string             `json:"id"`
	Object   string             `json:"object"`
	Cause    string             `json:"cause"`
	Remedy   string             `json:"remedy"`
	Message  string             `json:"message,omitempty"`
	Severity readiness.Severity `json:"severity"`
	// Confidence is "low" where what was seen can have another cause.
	Confidence readiness.Confidence `json:"confidence"`
	Transient  bool                 `json:"transient"`
}

// End is when a certificate or a token ends.
type End struct {
	What string    `json:"what"`
	At   time.Time `json:"at"`
}

// HealthOf observes a management cluster, and the registry if its sources read from that, and judges whether it
// can act.
func HealthOf(ctx context.Context, c *kube.Cluster, registry readiness.Registry) Health {
	ctx, cancel := context.WithTimeout(ctx, healthBound)
	defer cancel()
	return healthIn(readiness.Observe(ctx, c, registry))
}

func healthIn(o readiness.Observation) Health {
	h := Health{Findings: []Finding{}, NotChecked: append([]string{}, o.NotChecked...), complete: o.Complete()}
	for _, f := range readiness.Judge(o) {
		h.Findings = append(h.Findings, Finding{ID: f.ID, Object: f.Object.String(), Cause: f.Cause, Remedy: f.Remedy,
			Message: f.Message, Severity: f.Severity, Confidence: f.Confidence(), Transient: f.Transient})
	}
	if e, known := readiness.Earliest(o); known {
		h.FirstToEnd = &End{What: e.What, At: e.At.UTC()}
	}
	return h
}

// withHealth makes a report worse by what keeps the management cluster from acting: one that says it is ready is not up
// if it cannot act. Whether that lasts a second look shows.
func (r Report) withHealth(h Health) Report {
	r.Health = &h
	i := slices.IndexFunc(h.Findings, func(f Finding) bool {
		return f.Severity == readiness.Blocking &&
			f.Confidence == readiness.HighConfidence
	})
	switch {
	case i >= 0:
		r.State, r.Why = OnTheWay, fmt.Sprintf("%s (%s)", h.Findings[i].Cause, h.Findings[i].Object)
	case !h.complete:
		r.State, r.Why = Unknown, "whether its controllers act is not known: "+
			firstOr(h.NotChecked, "they could not be listed")
	}
	return r
}

func firstOr(list []string, otherwise string) string {
	if len(list) == 0 {
		return otherwise
	}
	return list[0]
}

// printHealth prints what is wrong and is not among the causes, and what ends first.
func printHealth(b *strings.Builder, h *Health, causes []Cause, wide bool) {
	if h == nil {
		return
	}
	for _, f := range h.Findings {
		if slices.ContainsFunc(causes, func(c Cause) bool { return c.Object == f.Object && c.Cause == f.Cause }) {
			continue
		}
		fmt.Fprintf(b, "\n%s: %s\n    object: %s\n    remedy: %s\n", f.Severity, oneline.Of(f.Cause, causeLimit(wide)),
			f.Object, oneline.Of(f.Remedy, causeLimit(wide)))
	}
	if h.FirstToEnd != nil {
		fmt.Fprintf(b, "\nfirst to end: the %s, at %s\n", h.FirstToEnd.What, h.FirstToEnd.At.Format(time.RFC3339))
	}
	for i, what := range h.NotChecked {
		if i == 0 {
			fmt.Fprintf(b, "\nnot checked:\n")
		}
		fmt.Fprintf(b, "  %s\n", oneline.Of(what, messageLimit(wide)))
	}
}
