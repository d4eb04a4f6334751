package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/evidence"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/render"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/up"
)

// defaultArtifacts is the folder for artifacts of a failed run in CI.
const defaultArtifacts = "cluster-init-artifacts"

// How long collecting may take. After Ctrl-C the user waits for it. GitHub Actions kills the process 7.5 seconds after
// it cancels a job.
const (
	collectBound            = 2 * time.Minute
	collectInterruptedBound = 5 * time.Second
)

// artifactOptions are the flags for artifacts of a failed run.
type artifactOptions struct {
	dir   string
	flags *pflag.FlagSet
}

func (o *artifactOptions) register(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.dir, "output-dir", "", "folder for events, logs and objects of a failed run, without secrets "+
		"(default: none; if CI is set, ./"+defaultArtifacts+")")
}

// folder returns the folder for artifacts after checking that it can be used. Empty means none.
func (o *artifactOptions) folder() (string, error) {
	dir := o.dir
	if inCI() && !o.flags.Changed("output-dir") {
		dir = defaultArtifacts
	}
	if dir == "" {
		return "", nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, evidence.CheckDir(dir)
}

// record keeps the events of a run for the artifacts.
type record struct {
	event.Recorder
	dir string
	run *up.Run // nil until the input is checked and the run holds its lock
}

// keep writes the artifacts of a failed run, except after a usage error. It reports its own errors as warnings.
func (r *record) keep(ctx context.Context, sink event.Sink, err error, finished event.Event) {
	if r.dir == "" || fault.CodeOf(err) == fault.Usage {
		return
	}
	bound := collectBound
	if ctx.Err() != nil && fault.CodeOf(context.Cause(ctx)) != fault.Timeout { // a person waits
		bound = collectInterruptedBound
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bound)
	defer cancel()
	tell := func(kind event.Type, message string) {
		sink.Emit(event.Event{Time: time.Now(), Type: kind, Message: message})
	}
	tell(event.Progress, "collecting events, logs and objects, for at most "+bound.String())
	collector := evidence.Collector{Dir: r.dir, Redactor: redact.New(redact.FromEnvironment(os.Environ())...),
		Engine: &docker.Client{}}
	if r.run != nil {
		for _, document := range r.run.Environment.SecretDocuments() {
			collector.Redactor.Add(redact.FromValues(document)...)
		}
		collector.Redactor.Add(secretsOf(r.run.Source)...)
		collector.Clusters, collector.Cluster = r.run.Reach, r.run.Environment.ClusterName()
	} else {
		collector.Engine = nil // not used by this run
	}
	run := evidence.Run{Command: "cluster-init " + finished.Command + " " + finished.Environment, Version: Version(),
		Err:      err,
		ExitCode: ExitCode(err), Elapsed: finished.Elapsed, Events: r.lines(finished)}
	if err := collector.Collect(ctx, run); err != nil {
		tell(event.Warning, "artifacts: "+err.Error())
		return
	}
	tell(event.Progress, "wrote artifacts of this run to "+r.dir+": start with summary.txt")
}

// secretsOf returns the credentials of a run's source.
func secretsOf(from source.Source) []string {
	var all []string
	for name, secret := range from.Credentials() {
		all = append(all, redact.FromSecret(name, secret)...)
	}
	return all
}

// lines returns all events as JSON, with the last one.
func (r *record) lines(finished event.Event) []byte {
	var out bytes.Buffer
	view := render.NewJSON(&out)
	for _, e := range append(r.Events(), finished) {
		view.Emit(e)
	}
	return out.Bytes()
}
