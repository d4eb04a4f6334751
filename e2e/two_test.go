//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// TestMatrixTwoAtOnce starts `up` a second time while it runs, at ten offsets, by turns with the same state folder and
// with another one, as another user or machine has it. One run builds one cluster. The others are turned away, or begin
// when it has ended.
func TestMatrixTwoAtOnce(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	up := []string{"up", environmentName, "--bundle", l.bundle}
	cases := []struct {
		name   string
		rivals []rival
		ends   bool // others come at its end too
	}{
		{name: "another user's at the same moment", rivals: []rival{{0, true}, {1 * time.Second, false},
			{5 * time.Second, false}}},
		{name: "the same user's at the same moment", rivals: []rival{{0, false}, {10 * time.Second, true}}},
		{name: "later, and at the end", ends: true, rivals: []rival{{2 * time.Second, true}, {20 * time.Second, false},
			{40 * time.Second, true},
			{80 * time.Second, false}, {120 * time.Second, true}}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			began := time.Now()
			runs := []*backgroundRun{l.start(t, "the first run", up...)}
			for _, r := range tc.rivals {
				await(t, began.Add(r.after))
				if !slices.ContainsFunc(runs, (*backgroundRun).atWork) {
					t.Fatalf("no run is at work any more after %s", r.after)
				}
				runs = append(runs, r.of(t, l).start(t, fmt.Sprintf("a run after %s", r.after), up...))
			}
			if tc.ends {
				builder := builderOf(t, runs)
				runs = append(runs, builder.lab.disturbedToItsEnd(t, builder, up)...)
			}
			oneHasBuilt(t, runs)
		})
		if t.Failed() {
			return // what is there now may be anything
		}
		if code, _ := l.run(t, "cleanup", l.name, "--yes", "--force", l.name); code != 0 {
			t.Fatalf("cleaning up between two cases ended with %d", code)
		}
	}
}

// builderOf waits until one run is left at work, and returns it: on a busy machine a later one may be the first to make
// the bootstrap cluster.
func builderOf(t *testing.T, runs []*backgroundRun) *backgroundRun {
	t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range 300 {
		atWork := slices.DeleteFunc(slices.Clone(runs), func(b *backgroundRun) bool { return !b.atWork() })
		switch len(atWork) {
		case 0:
			t.Fatal("no run is at work any more")
		case 1:
			return atWork[0]
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
	t.Fatal("several runs are at work after five minutes")
	return nil
}

// The exit codes with which a second run is turned away.
const (
	exitUnreachable = 32
	exitBusy        = 33
)

// rival is a second run.
type rival struct {
	after    time.Duration // since the first one began
	stranger bool          // it has a state folder of its own
}

// of is the lab in which the rival runs.
func (r rival) of(t *testing.T, l lab) lab {
	t.Helper()
	if r.stranger {
		return l.stranger(t)
	}
	return l
}

// stranger is the lab of another user: only what is in Docker, and in the clusters, is seen from there.
func (l lab) stranger(t *testing.T) lab {
	t.Helper()
	l.state = t.TempDir()
	l.environment = append(slices.Clone(l.environment), "XDG_STATE_HOME="+l.state)
	return l
}

// disturbedToItsEnd has others come when a run makes the management cluster, where they want to clean up, and at its
// end, where they want the same as it. It returns the runs that came at the end.
func (l lab) disturbedToItsEnd(t *testing.T, run *backgroundRun, up []string) []*backgroundRun {
	t.Helper()
	run.begins(t, "management-cluster")
	for who, other := range map[string]lab{"the same user": l, "another user": l.stranger(t)} {
		if code, said := other.run(t, "cleanup", l.name, "--yes"); code != exitBusy { // --force NAME would end the run
			t.Errorf("cleanup of %s during up ended with %d, want %d: %s", who, code, exitBusy, said)
		}
	}
	if !run.atWork() {
		t.Fatal("the run has ended during the cleanup")
	}
	run.begins(t, "self-management")
	stranger := l.stranger(t).start(t, "another user's run at the end", up...)
	// When the bootstrap cluster goes meanwhile, there are machines and no cluster to read: it must not begin either.
	stranger.refusals = append(stranger.refusals, exitUnreachable)
	run.begins(t, "bootstrap-removal")
	return []*backgroundRun{stranger, l.start(t, "the same user's run at the end", up...)}
}

// oneHasBuilt waits for runs, and fails the test unless one of them has built one cluster, undisturbed by the others.
func oneHasBuilt(t *testing.T, runs []*backgroundRun) {
	t.Helper()
	var builder *backgroundRun
	for _, run := range runs {
		<-run.over
		t.Logf("%s ended with %d: %s", run.name, run.exitCode, run.failure.Message)
		if run.err != nil {
			t.Errorf("%s: %v", run.name, run.err)
		}
		if run.exitCode == 0 && (builder == nil || run.ended.Before(builder.ended)) {
			builder = run
		}
	}
	if builder == nil {
		t.Fatal("no run has built the cluster")
	}
	for _, run := range runs {
		switch {
		case run == builder:
		case run.exitCode == 0 && run.lookedAt.After(builder.ended): // it began when that had ended
		case run.exitCode == 0:
			t.Errorf("%s looked at %s, before %s ended at %s, and went well too", run.name, run.lookedAt, builder.name,
				builder.ended)
		case !slices.Contains(run.refusals, run.exitCode):
			t.Errorf("%s ended with %d, want one of %v: %+v", run.name, run.exitCode, run.refusals, run.failure)
		case run.failure.Hint == "":
			t.Errorf("%s: no hint says what to do: %+v", run.name, run.failure)
		}
	}
	if left := containers(t, kind.ClusterLabel+"="+owned.BootstrapCluster(environmentName)); len(left) > 0 {
		t.Errorf("a bootstrap cluster is left: %v", left)
	}
	controlPlanes := strings.Fields(docker(t, "ps", "-a", "--format", "{{.Names}}", "--filter",
		"label="+kind.ClusterLabel+"="+environmentName,
		"--filter", "label="+kind.RoleLabel+"=control-plane"))
	if len(controlPlanes) != 1 || len(machines(t)) != 1 {
		t.Errorf("the machines are %v, of the control plane %v, want one", machines(t), controlPlanes)
	}
	builder.lab.management(t).managesItself(t)
}

// await waits for a time of day.
func await(t *testing.T, at time.Time) {
	t.Helper()
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}

// backgroundRun is a run in the background of the test.
type backgroundRun struct {
	name     string
	lab      lab
	refusals []int         // exit codes with which it may be turned away
	phases   chan string   // those that have begun; closed at the run's end
	over     chan struct{} // closed when all that follows is known
	exitCode int
	failure  event.Failure
	lookedAt time.Time // when it found out what there is; zero: it never did
	ended    time.Time
	err      error
}

// start starts the CLI in the background of the test.
func (l lab) start(t *testing.T, name string, args ...string) *backgroundRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	c := l.command(ctx, append(slices.Clone(args), "--output", "json")...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		t.Logf("%s: cluster-init %v", name, args)
		err = c.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	// more than there are phases
	b := &backgroundRun{name: name, lab: l, refusals: []int{exitBusy}, phases: make(chan string, 100),
		over: make(chan struct{})}
	go func() {
		defer close(b.over)
		defer close(b.phases)
		b.follow(c, out)
	}()
	t.Cleanup(func() { cancel(); <-b.over })
	return b
}

// follow reads the run's events to its end.
func (b *backgroundRun) follow(c *exec.Cmd, out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			b.err = errors.Join(b.err, fmt.Errorf("line is no event: %s", lines.Text()))
			continue
		}
		switch {
		case e.Type == event.PhaseStarted:
			b.phases <- e.Phase
		case e.Type == event.PhaseFinished && e.Phase == "look":
			b.lookedAt = e.Time
		case e.Type == event.RunFinished:
			b.ended = e.Time
			if e.Failure != nil {
				b.failure = *e.Failure
			}
		}
	}
	_, _ = io.Copy(io.Discard, out)
	err := c.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		b.err = errors.Join(b.err, err)
	}
	b.exitCode = c.ProcessState.ExitCode()
}

// atWork reports whether the run has not ended yet.
func (b *backgroundRun) atWork() bool {
	select {
	case <-b.over:
		return false
	default:
		return true
	}
}

// begins waits until a phase of the run has begun.
func (b *backgroundRun) begins(t *testing.T, phase string) {
	t.Helper()
	for begun := range b.phases {
		if begun == phase {
			return
		}
	}
	<-b.over
	t.Fatalf("%s ended with %d before phase %s: %+v", b.name, b.exitCode, phase, b.failure)
}
