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
	"github.com/cluster-init/cluster-init/pkg/up"
)

// defaultArtifacts is where a CI job finds what is left of a run that failed.
const defaultArtifacts = "cluster-init-artifacts"

// How long collecting may take. One who pressed Ctrl-C waits for it, and GitHub Actions sends a second signal, which
// ends the process, 7.5 seconds after the one that cancels a job.
const (
	collectBound            = 2 * time.Minute
	collectInterruptedBound = 5 * time.Second
)

// artifactOptions are the flags for what is left of a run that failed.
type artifactOptions struct {
	dir   string
	flags *pflag.FlagSet
}

func (o *artifactOptions) register(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.dir, "output-dir", "", "folder for events, logs and objects of a run that failed, without secrets "+
		"(default: none; where CI is set, ./"+defaultArtifacts+")")
}

// folder returns the folder, empty for none, once it is sure that it can be used.
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
	return dir, evidence.Claim(dir)
}

// record is what a run has said so far, for the artifacts.
type record struct {
	event.Recorder
	dir string
	run *up.Run // nil until all input was checked
}

// keep writes the artifacts of a run that failed. Its own errors are told, and take nothing away from the run's.
func (r *record) keep(ctx context.Context, sink event.Sink, err error, finished event.Event) {
	if r.dir == "" || fault.CodeOf(err) == fault.Usage {
		return
	}
	bound := collectBound
	if ctx.Err() != nil {
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
		collector.Redactor.Add(secretsOf(r.run)...)
		collector.Clusters, collector.Cluster = r.run.Reach, r.run.Environment.ClusterName()
	} else {
		collector.Engine = nil // it was not asked for anything
	}
	run := evidence.Run{Command: "cluster-init " + finished.Command + " " + finished.Environment, Version: Version(),
		Err:      err,
		ExitCode: ExitCode(err), Elapsed: finished.Elapsed, Events: r.lines(finished)}
	if err := collector.Collect(ctx, run); err != nil {
		tell(event.Warning, "artifacts: "+err.Error())
		return
	}
	tell(event.Progress, "what is left of this run is in "+r.dir+": begin with summary.txt")
}

// secretsOf are the credentials of a run's source.
func secretsOf(run *up.Run) []string {
	var all []string
	for name, secret := range run.Source.Credentials() {
		all = append(all, redact.FromSecret(name, secret)...)
	}
	return all
}

// lines are all events as JSON, the last one included.
func (r *record) lines(finished event.Event) []byte {
	var out bytes.Buffer
	view := render.NewJSON(&out)
	for _, e := range append(r.Events(), finished) {
		view.Emit(e)
	}
	return out.Bytes()
}
