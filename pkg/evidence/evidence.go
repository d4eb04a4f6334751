// Package evidence collects what a person needs to investigate a failed run: its events, objects and logs of both
// clusters, and the containers. It writes them without secrets into one folder, which a CI job can keep as an artifact.
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

// Engine is the part of the Docker engine's client that a Collector needs.
type Engine interface {
	Containers(context.Context, docker.Filter) ([]string, error)
	Table(context.Context) (string, error)
	InspectAll(context.Context, string) (map[string]any, error)
	Logs(ctx context.Context, container string, lines, limit int) (string, error)
	Output(ctx context.Context, container string, args []string, limit int) (string, error)
}

// Collector collects evidence into Dir. It lists in the summary what it cannot collect, and continues.
type Collector struct {
	Dir      string
	Redactor *redact.Redactor
	// Clusters connects to the clusters that answer. Its error says which do not. Nil means no clusters.
	Clusters func(context.Context) ([]*kube.Cluster, error)
	Engine   Engine // nil: no containers
	Cluster  string // name of the management cluster, which its containers are labelled with
	// Left is called for each item that could not be collected. Nil means not called.
	Left func(what string)
	// Machines returns the output of machines that are not containers. With an error, the partial result counts. Nil
	// means no such machines.
	Machines func(context.Context) ([]Said, error)
	// Case returns the input of a diagnosis as JSON, without secrets. It is called after the Secrets of all clusters
	// were read, even if that failed. Nil means that no case is kept.
	Case func(context.Context) ([]byte, error)
}

// Run is the run that the evidence is about.
type Run struct {
	Command  string // as the user gave it, without flags
	Version  string // of cluster-init
	Err      error  // nil if collected on demand
	ExitCode int
	Elapsed  time.Duration
	Events   []byte   // one JSON object a line
	Unread   []string // what the caller could not read, and why
}

// The limits for a log and for one request. A request that hangs must not block the others.
const (
	logLines       = 500
	logBytes       = 1 << 20
	journalLines   = 2000
	requestTimeout = 20 * time.Second
)

// Collect collects until it is done or ctx ends, and returns errors of writing. It replaces the evidence of an earlier
// run.
func (c Collector) Collect(ctx context.Context, run Run) error {
	f, err := newFolder(c.Dir, c.Redactor)
	if err != nil {
		return fmt.Errorf("make the folder for artifacts: %w", err)
	}
	for _, what := range run.Unread {
		f.problem("%s", what)
	}
	clusters, noAnswer := c.connect(ctx, f)
	var parts []part
	secretsKnown := map[*kube.Cluster]bool{}
	for _, cluster := range clusters { // first: later parts are written only for clusters whose Secrets are known
		parts = append(parts, part{"Secrets of the " + cluster.Name + " cluster",
			func(ctx context.Context) { secretsKnown[cluster] = c.secrets(ctx, f, cluster) }})
	}
	unknown := func() (which []string) { // any log could hold a secret of these clusters
		if noAnswer {
			which = append(which, "a cluster that does not answer")
		}
		for _, cluster := range clusters {
			if !secretsKnown[cluster] {
				which = append(which, "the "+cluster.Name+" cluster")
			}
		}
		return which
	}
	parts = append(parts, part{"events of the run", func(context.Context) { f.events(run.Events) }})
	for _, cluster := range clusters {
		parts = append(parts, part{"objects and pod logs of the " + cluster.Name + " cluster",
			func(ctx context.Context) {
				if !secretsKnown[cluster] { // any line could hold a secret
					f.problem("objects and pod logs of the %s cluster: left out, as its Secrets are not known",
						cluster.Name)
					return
				}
				objects(ctx, f, cluster)
				for _, which := range unknown() {
					f.problem("pod logs of the %s cluster: left out, as Secrets of %s are not known", cluster.Name,
						which)
				}
				if len(unknown()) == 0 {
					podLogs(ctx, f, cluster)
				}
			}})
	}
	parts = append(parts, part{"containers", func(ctx context.Context) {
		for _, which := range unknown() {
			f.problem("logs of containers and journals of machines: left out, as Secrets of %s are not known", which)
		}
		c.containers(ctx, f, len(unknown()) == 0)
		c.machines(ctx, f, len(unknown()) == 0)
	}})
	if c.Case != nil {
		parts = append(parts, part{"data for a diagnosis", func(ctx context.Context) { c.diagnosis(ctx, f) }})
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

// diagnosis keeps the data for a diagnosis. Case itself leaves out what could hold unknown secrets.
func (c Collector) diagnosis(ctx context.Context, f *folder) {
	content, err := c.Case(ctx)
	if err != nil {
		f.problem("data for a diagnosis: %v", err)
		return
	}
	f.write(CaseName, "what \"cluster-init diagnose --from\" reads", string(content))
}

// part is a piece of work with its own share of the time: a cluster that hangs must not block the others.
type part struct {
	what    string
	collect func(context.Context)
}

// within collects for at most 1/shares of the remaining time.
func (p part) within(ctx context.Context, shares int, f *folder) {
	if deadline, bounded := ctx.Deadline(); bounded {
		share, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer cancel()
		ctx = share
	}
	p.collect(ctx)
	if ctx.Err() != nil {
		f.problem("the rest of %s: %v", p.what, context.Cause(ctx))
	}
}

// connect returns the clusters that answer. noAnswer reports whether another cluster should answer and does not.
func (c Collector) connect(ctx context.Context, f *folder) (clusters []*kube.Cluster, noAnswer bool) {
	if c.Clusters == nil {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	clusters, err := c.Clusters(ctx)
	if err != nil {
		f.problem("objects and pod logs of a cluster: %v", err)
	}
	return clusters, err != nil
}

// bounded runs one request with its own timeout, and notes its error as a problem of what. It reports success. After
// the end of ctx it runs nothing and returns false.
func bounded(ctx context.Context, f *folder, what string, request func(context.Context) error) bool {
	if ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := request(ctx); err != nil {
		f.problem("%s: %v", what, err)
		return false
	}
	return true
}
