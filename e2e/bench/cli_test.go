//go:build bench

package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/event"
)

// upBound is far above what `up` takes.
const upBound = 25 * time.Minute

// cli is the built binary with a state folder of its own.
type cli struct{ binary, bundle, state string }

func newCLI(t *testing.T) cli {
	t.Helper()
	c := cli{binary: os.Getenv("CLUSTER_INIT"), bundle: os.Getenv("CLUSTER_INIT_TEST_BUNDLE"), state: t.TempDir()}
	if c.binary == "" || c.bundle == "" {
		t.Fatal("CLUSTER_INIT and CLUSTER_INIT_TEST_BUNDLE must name the binary and the bundle: use `make bench`")
	}
	return c
}

// prepare gives the command a state folder of its own, and the Go runtime as users have it: what a developer sets for
// builds, such as GOGC, changes what is measured.
func (c cli) prepare(command *exec.Cmd) *exec.Cmd {
	command.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == "GOGC" || name == "GOMEMLIMIT" || name == "GODEBUG"
	})
	command.Env = append(command.Env, "XDG_STATE_HOME="+c.state)
	command.Stderr = os.Stderr
	return command
}

// refuseLeftovers ends the test if the environment exists already: it may belong to a user, and it would disturb the
// measurement.
func (c cli) refuseLeftovers(t *testing.T) {
	t.Helper()
	out, err := c.prepare(exec.Command(c.binary, "cleanup", environmentName)).Output()
	if err != nil {
		t.Fatalf("the environment %s must not exist when the measurement begins; `make down` deletes it (%v):\n%s",
			environmentName, err, out)
	}
}

// cleanup has no context: it also runs after the test's has ended.
func (c cli) cleanup(t *testing.T) {
	t.Helper()
	out, err := c.prepare(exec.Command(c.binary, "cleanup", environmentName, "--yes", "--force",
		environmentName)).Output()
	if err != nil {
		t.Errorf("cleaning up: %v:\n%s", err, out)
	}
}

// timed is a phase or a step and how long it took. note says why it took no time.
type timed struct {
	name    string
	elapsed time.Duration
	note    string
}

// measured is what one run of `up` took.
type measured struct {
	phases      []timed
	wall        time.Duration // from the start of the process to its end
	usage       usage
	apiRequests string
}

// up runs `cluster-init up` to its end; a run that fails ends the test.
func (c cli) up(t *testing.T) measured {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), upBound)
	defer cancel()
	command := c.prepare(exec.CommandContext(ctx, c.binary, "up", environmentName, "--bundle", c.bundle, "--output",
		"json"))
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	watch := watchProcess(command.Process.Pid)
	var m measured
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m.take(t, lines.Bytes())
	}
	m.wall = time.Since(start)
	usage, usageErr := watch.stop() // before Wait, which takes the process out of /proc
	if err := command.Wait(); err != nil {
		t.Fatalf("up: %v", err)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if usageErr != nil {
		t.Fatal(usageErr)
	}
	m.usage = usage
	m.usage.withChildren = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return m
}

// take notes what an event says about the run.
func (m *measured) take(t *testing.T, line []byte) {
	t.Helper()
	var e event.Event
	if err := json.Unmarshal(line, &e); err != nil {
		t.Errorf("line is no event: %s", line)
		return
	}
	switch e.Type {
	case event.PhaseFinished, event.PhaseSkipped:
		m.phases = append(m.phases, timed{name: e.Phase, elapsed: e.Elapsed, note: e.Message})
		t.Logf("up: %-20s %6.1f s %s", e.Phase, e.Elapsed.Seconds(), e.Message)
	case event.RunFinished:
		m.apiRequests = e.Fields["apiRequests"]
		if e.Failure != nil {
			t.Errorf("up: %s: %s\n%s", e.Failure.Code, e.Failure.Message, e.Failure.Hint)
		}
	}
}
