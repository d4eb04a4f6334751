// Package evidence gathers what a failed run leaves for the one who looks into it: the run's events, objects and logs
// of both clusters, and the containers, without secrets, in one folder that a CI job can keep as an artifact.
package evidence

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// Engine is what is needed of the Docker engine.
type Engine interface {
	Containers(context.Context, docker.Filter) ([]string, error)
	Table(context.Context) (string, error)
	InspectAll(context.Context, string) (map[string]any, error)
	Logs(ctx context.Context, container string, lines, limit int) (string, error)
	Output(ctx context.Context, container string, args []string, limit int) (string, error)
}

// Collector gathers evidence into Dir. What it cannot get it notes in the summary and goes on.
type Collector struct {
	Dir      string
	Redactor *redact.Redactor
	// Clusters connects to the clusters that answer; nil: there are none. Its error says which do not, and why.
	Clusters func(context.Context) ([]*kube.Cluster, error)
	Engine   Engine // nil: no containers
	Cluster  string // name of the management cluster, which its containers are labelled with
	// Left, unless it is nil, hears what could not be collected.
	Left func(what string)
	// Machines returns what machines that are no containers say; what it has until its error counts. nil: there are
	// none.
	Machines func(context.Context) ([]Said, error)
	// Case returns what a diagnosis can be made of again, without secrets, as JSON; it is asked when the Redactor knows
	// all of them. nil: that is not kept.
	Case func(context.Context) ([]byte, error)
}

// Run is how the run ended that the evidence is of.
type Run struct {
	Command  string // as its user gave it, without flags
	Version  string // of cluster-init
	Err      error  // nil: it was collected on demand
	ExitCode int
	Elapsed  time.Duration
	Events   []byte   // one JSON object a line
	Unread   []string // what could not be read before, and why
}

// How much is kept of a log, and how long one question may take: one part that hangs must not cost all others.
const (
	logLines  = 500
	logBytes  = 1 << 20
	callBound = 20 * time.Second
)

// Collect gathers until it is done or ctx ends, and returns what kept it from writing. What an earlier run left in the
// folder is replaced.
func (c Collector) Collect(ctx context.Context, run Run) error {
	f, err := newFolder(c.Dir, c.Redactor)
	if err != nil {
		return fmt.Errorf("making the folder for artifacts: %w", err)
	}
	for _, what := range run.Unread {
		f.problem("%s", what)
	}
	clusters, silent := c.connect(ctx, f)
	var parts []part
	readable := map[*kube.Cluster]bool{}
	for _, cluster := range clusters { // all secrets must be known before the first line is written
		parts = append(parts, part{"Secrets of the " + cluster.Name + " cluster",
			func(ctx context.Context) { readable[cluster] = c.secrets(ctx, f, cluster) }})
	}
	parts = append(parts, part{"events of the run", func(context.Context) { f.events(run.Events) }})
	for _, cluster := range clusters {
		parts = append(parts, part{"objects and pod logs of the " + cluster.Name + " cluster",
			func(ctx context.Context) {
				if !readable[cluster] { // any line could hold one of them
					f.problem("objects and pod logs of the %s cluster: left out, as its Secrets are not known",
						cluster.Name)
					return
				}
				objects(ctx, f, cluster)
				podLogs(ctx, f, cluster)
			}})
	}
	parts = append(parts, part{"containers", func(ctx context.Context) {
		var unknown []string // any log, and a machine's journal, could hold one of their Secrets
		if silent {
			unknown = append(unknown, "a cluster that does not answer")
		}
		for _, cluster := range clusters {
			if !readable[cluster] {
				unknown = append(unknown, "the "+cluster.Name+" cluster")
			}
		}
		for _, which := range unknown {
			f.problem("logs of containers and journals of machines: left out, as Secrets of %s are not known", which)
		}
		c.containers(ctx, f, len(unknown) == 0)
		c.machines(ctx, f, len(unknown) == 0)
	}})
	if c.Case != nil {
		parts = append(parts, part{"what a diagnosis is made of", func(ctx context.Context) { c.diagnosis(ctx, f) }})
	}
	for i, p := range parts {
		p.within(ctx, len(parts)-i, f)
	}
	f.summary(run)
	for _, problem := range f.problems {
		if c.Left != nil {
			c.Left(problem)
		}
	}
	return errors.Join(f.failed...)
}

// diagnosis keeps what a diagnosis is made of. It leaves out the logs of a cluster whose Secrets are not known by
// itself.
func (c Collector) diagnosis(ctx context.Context, f *folder) {
	content, err := c.Case(ctx)
	if err != nil {
		f.problem("what a diagnosis is made of: %v", err)
		return
	}
	f.write(CaseName, "what \"cluster-init diagnose --from\" reads", string(content))
}

// part is one piece of work with a share of the time of its own: a cluster that hangs must not cost all else.
type part struct {
	what    string
	collect func(context.Context)
}

// within collects for at most one of shares equal shares of the time that is left.
func (p part) within(ctx context.Context, shares int, f *folder) {
	if deadline, bounded := ctx.Deadline(); bounded {
		own, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer cancel()
		ctx = own
	}
	p.collect(ctx)
	if ctx.Err() != nil {
		f.problem("the rest of %s: the time for it was over", p.what)
	}
}

// connect returns those clusters that answer. silent is whether there are others, which should.
func (c Collector) connect(ctx context.Context, f *folder) (clusters []*kube.Cluster, silent bool) {
	if c.Clusters == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	clusters, err := c.Clusters(ctx)
	if err != nil {
		f.problem("objects and pod logs of a cluster: %v", err)
	}
	return clusters, err != nil
}

// bounded runs one question with its own bound, unless the time is over, and notes its error as one about what. It
// returns whether there was an answer.
func bounded(ctx context.Context, f *folder, what string, ask func(context.Context) error) bool {
	if ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	if err := ask(ctx); err != nil {
		f.problem("%s: %v", what, err)
		return false
	}
	return true
}
