package status

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/readiness"
)

// healthTimeout limits one observation of a cluster's health. What has not answered by then is not checked.
const healthTimeout = 45 * time.Second

// Health says whether a management cluster can act, and which of its certificates and tokens expires first.
type Health struct {
	// Findings are blocking problems and warnings.
	Findings []Finding `json:"findings"`
	// FirstExpiry is the first certificate or token to expire among those that are not renewed automatically.
	FirstExpiry *Expiry `json:"firstToEnd,omitempty"`
	// NotChecked lists what could not be checked, and why.
	NotChecked []string `json:"notChecked"`

	complete bool // all required kinds were listed
}

// A Finding is a problem that the status of the objects need not show.
type Finding struct {
	ID       string             `json:"id"`
	Object   string             `json:"object"`
	Cause    string             `json:"cause"`
	Remedy   string             `json:"remedy"`
	Message  string             `json:"message,omitempty"`
	Severity readiness.Severity `json:"severity"`
	// Confidence is "low" if the observation can have another cause.
	Confidence readiness.Confidence `json:"confidence"`
	Transient  bool                 `json:"transient"`
}

// Expiry is the end of a certificate or a token.
type Expiry struct {
	What string    `json:"what"`
	At   time.Time `json:"at"`
}

// HealthOf checks whether a management cluster can act, and whether its components follow a security profile. It
// observes the registry too if the cluster's sources read from it.
func HealthOf(ctx context.Context, c *kube.Cluster, registry readiness.Registry, profile benchmark.Profile) Health {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	o := readiness.Observe(ctx, c, registry)
	return healthFrom(o).withProfile(ctx, c, o, profile)
}

func healthFrom(o readiness.Observation) Health {
	h := Health{Findings: []Finding{}, NotChecked: append([]string{}, o.NotChecked...), complete: o.Complete()}
	for _, f := range readiness.Judge(o) {
		h.Findings = append(h.Findings, Finding{ID: f.ID, Object: f.Object.String(), Cause: f.Cause, Remedy: f.Remedy,
			Message: f.Message, Severity: f.Severity, Confidence: f.Confidence(), Transient: f.Transient})
	}
	if e, known := readiness.Earliest(o); known {
		h.FirstExpiry = &Expiry{What: e.What, At: e.At.UTC()}
	}
	return h
}

// withHealth adds the health. A blocking finding of high confidence gives Progressing, incomplete checks Unknown.
// Whether a finding is permanent, only a second observation shows.
func (r Report) withHealth(h Health) Report {
	r.Health = &h
	i := slices.IndexFunc(h.Findings, func(f Finding) bool {
		return f.Severity == readiness.Blocking && f.Confidence == readiness.HighConfidence
	})
	switch {
	case i >= 0:
		r.State, r.Why = Progressing, fmt.Sprintf("%s (%s)", h.Findings[i].Cause, h.Findings[i].Object)
	case !h.complete:
		r.State, r.Why = Unknown, "not known whether its controllers work: "+
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

// printHealth prints the findings that are not among the causes, and the first expiry.
func printHealth(b *strings.Builder, h *Health, causes []Cause, wide bool) {
	if h == nil {
		return
	}
	for _, f := range h.Findings {
		if slices.ContainsFunc(causes, func(c Cause) bool { return c.Object == f.Object && c.Cause == f.Cause }) {
			continue
		}
		oneline.Fprintf(b, "\n%s: %s\n    object: %s\n    remedy: %s\n", f.Severity,
			oneline.Of(f.Cause, causeLimit(wide)), f.Object, oneline.Of(f.Remedy, causeLimit(wide)))
	}
	if h.FirstExpiry != nil {
		oneline.Fprintf(b, "\nexpires first: the %s, at %s\n", h.FirstExpiry.What,
			h.FirstExpiry.At.Format(time.RFC3339))
	}
	for i, what := range h.NotChecked {
		if i == 0 {
			fmt.Fprint(b, "\nnot checked:\n")
		}
		oneline.Fprintf(b, "  %s\n", oneline.Of(what, messageLimit(wide)))
	}
}
