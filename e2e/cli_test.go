//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/event"
)

// lab is what one test needs of the lab: the binary, the bundle, and a state folder of its own. Without a bundle a run
// fetches from the internet: `--bundle ""` is no bundle.
type lab struct {
	binary, bundle, state string
	name                  string   // of the environment, and of its cluster
	environment           []string // of the processes, besides this one's
}

func newLab(t *testing.T) lab { return newLabFor(t, environmentName) }

func newLabFor(t *testing.T, name string) lab {
	t.Helper()
	l := lab{name: name, binary: os.Getenv("CLUSTER_INIT"), bundle: os.Getenv("CLUSTER_INIT_TEST_BUNDLE"),
		state: t.TempDir()}
	if l.binary == "" {
		t.Fatal("CLUSTER_INIT must name the binary, and CLUSTER_INIT_TEST_BUNDLE the bundle, if any: use `make e2e`")
	}
	if name != environmentName {
		l.needBundle(t) // the stand-in for RKE2, and the image of the lab's servers
	}
	// Whatever runs this test, the run that it makes is that of a user.
	l.environment = []string{"XDG_STATE_HOME=" + l.state, "CI=", "GITHUB_ACTIONS=", "GITLAB_CI="}
	return l
}

// needBundle ends a test that cannot run without a bundle. `make e2e` has none where registries answer, unless
// OFFLINE=1 asks for one, as .ci/run does.
func (l lab) needBundle(t *testing.T) {
	t.Helper()
	if l.bundle == "" {
		missing(t, "this test needs the offline bundle: make e2e OFFLINE=1")
	}
}

// openBundle opens the bundle, and skips a test that has none.
func (l lab) openBundle(t *testing.T) *bundle.Bundle {
	t.Helper()
	l.needBundle(t)
	b, err := bundle.Open(l.bundle)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (l lab) kubeconfig(cluster string) string {
	return filepath.Join(l.state, "cluster-init", cluster, "kubeconfig")
}

func (l lab) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, l.binary, args...)
	c.Env = append(os.Environ(), l.environment...)
	return c
}

// run runs the CLI to its end, with its narration in the test's log, and returns its exit code and standard output.
func (l lab) run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	// a test's Cleanup may run it too
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 25*time.Minute)
	defer cancel()
	c := l.command(ctx, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, os.Stderr
	t.Logf("cluster-init %v", args)
	quiet := l.quietDuring(t, args)
	err := c.Run()
	quiet(c.ProcessState.ExitCode())
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatalf("running cluster-init %v: %v", args, err)
	}
	return c.ProcessState.ExitCode(), out.String()
}

// ended is how a run that was watched ended.
type ended struct {
	sent     bool          // the signal was sent; else the run came to its end by itself
	exitCode int           // -1 when the signal ended the process
	after    time.Duration // from the signal to the end
	failure  event.Failure // of the run, empty when it went well or had no time to tell
	stderr   string
}

// killAt runs `up`, kills it with SIGKILL as soon as an event for which stop is true arrives, and says whether it did;
// otherwise the run came to its end, with the exit code that is returned.
func (l lab) killAt(t *testing.T, stop func(event.Event) bool, args ...string) (killed bool, exitCode int) {
	t.Helper()
	e := l.signalAt(t, os.Kill, stop, args...)
	return e.sent, e.exitCode
}

// signalAt runs the CLI and sends it a signal as soon as an event for which when is true arrives.
func (l lab) signalAt(t *testing.T, signal os.Signal, when func(event.Event) bool, args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
	defer cancel()
	c := l.command(ctx, append(args, "--output", "json")...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c.Stderr = io.MultiWriter(os.Stderr, &stderr)
	t.Logf("cluster-init %v", args)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var result ended
	var sentAt time.Time
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if isAnswer(lines.Bytes()) {
			continue
		}
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Errorf("line is no event: %s", lines.Text())
			continue
		}
		logEvent(t, e)
		if e.Type == event.RunFinished && e.Failure != nil {
			result.failure = *e.Failure
		}
		if !result.sent && when(e) {
			result.sent, sentAt = true, time.Now()
			if err := c.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, _ = io.Copy(io.Discard, out)
	err = c.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	if result.sent {
		result.after = time.Since(sentAt)
	}
	result.exitCode, result.stderr = c.ProcessState.ExitCode(), stderr.String()
	return result
}

// isAnswer reports whether a line of --output json is the answer of a command and no event.
func isAnswer(line []byte) bool {
	var document struct {
		Type event.Type `json:"type"`
	}
	return json.Unmarshal(line, &document) == nil && document.Type != "" &&
		!slices.Contains(event.Types(), document.Type)
}

func logEvent(t *testing.T, e event.Event) {
	switch e.Type {
	case event.PhaseFinished, event.PhaseSkipped:
		t.Logf("%-12s %-20s %s %.1fs", e.Type, e.Phase, e.Message, e.Elapsed.Seconds())
	case event.PhaseFailed, event.RunFinished:
		if e.Failure != nil {
			t.Logf("%s %s: %s", e.Type, e.Phase, e.Failure.Message)
		}
	}
}
