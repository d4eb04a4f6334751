//go:build openstack

package cleanup

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	result "github.com/cluster-init/cluster-init/pkg/cleanup"
)

// ended is how a run of the binary ended.
type ended struct {
	code    int // -1: it was killed
	plan    result.Plan
	receipt result.Receipt
	stderr  string
	took    time.Duration
}

// command is the binary as the project's member runs it, on a machine without proxies of its own.
func (p *project) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Getenv("CLUSTER_INIT"), append([]string{"cleanup", "--output", "json"},
		args...)...)
	for _, variable := range os.Environ() {
		if name := strings.ToLower(strings.SplitN(variable, "=", 2)[0]); !strings.HasPrefix(name, "os_") &&
			!strings.HasSuffix(name, "_proxy") {
			c.Env = append(c.Env, variable)
		}
	}
	c.Env = append(c.Env, "OS_CLOUD=member", "OS_CLIENT_CONFIG_FILE="+p.clouds, "XDG_STATE_HOME="+t.TempDir())
	return c
}

// run runs a command to its end, or kills it with SIGKILL as kill is closed.
func run(t *testing.T, c *exec.Cmd, kill <-chan struct{}) ended {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c.Stderr = &stderr
	start := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		select {
		case <-kill:
			_ = c.Process.Kill()
		case <-over:
		}
	}()
	e := ended{}
	var stdout bytes.Buffer
	e.read(t, io.TeeReader(out, &stdout))
	_ = c.Wait() // the state says it all
	close(over)
	<-killed
	e.took, e.code, e.stderr = time.Since(start), c.ProcessState.ExitCode(), stderr.String()
	for line := range strings.Lines(stdout.String()) { // an error is in the last event
		if strings.Contains(line, `"type":"run-finished"`) {
			e.stderr += line
		}
	}
	return e
}

func (e *ended) read(t *testing.T, out io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var kind struct{ Type string }
		if err := json.Unmarshal(lines.Bytes(), &kind); err != nil {
			continue // the last line of a killed process
		}
		switch kind.Type {
		case "cleanup-plan":
			_ = json.Unmarshal(lines.Bytes(), &e.plan)
		case "cleanup-receipt":
			_ = json.Unmarshal(lines.Bytes(), &e.receipt)
		}
	}
}

// never is not closed.
var never <-chan struct{}
