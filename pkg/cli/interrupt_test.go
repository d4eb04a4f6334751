package cli_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// started runs the command in a process of its own and returns it with what it writes to stderr.
func started(t *testing.T, command string, environment []string, args ...string) (*exec.Cmd, *output) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command, args...)
	stderr := &output{}
	c.Env = append(append(os.Environ(), "HOME="+t.TempDir(), "CI=", "GITHUB_ACTIONS=", "GITLAB_CI="), environment...)
	c.Stderr = stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, stderr
}

// output can be read while it is written.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// waited returns the exit code, minus the signal's number when a signal ended the process.
func waited(t *testing.T, c *exec.Cmd) int {
	t.Helper()
	timer := time.AfterFunc(30*time.Second, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	_ = c.Wait() // the state says it all
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return -int(status.Signal())
	}
	return c.ProcessState.ExitCode()
}

func TestInterruptBeforeThePhases(t *testing.T) {
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	artifacts := filepath.Join(t.TempDir(), "artifacts")
	c, stderr := started(t, "cluster-init", nil, "up", "kubeadm-capd", "--source", "git", "--source-url",
		server.URL+"/repo.git", "--output-dir", artifacts)
	<-asked
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := waited(t, c); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	for _, want := range []string{"press Ctrl-C again to exit at once", "error: interrupted: ",
		"hint:  Nothing is lost: run the same command again"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("stderr does not say %q:\n%s", want, stderr)
		}
	}
	if strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("a stack trace:\n%s", stderr)
	}
	if summary, err := os.ReadFile(filepath.Join(artifacts, "summary.txt")); err != nil ||
		!strings.Contains(string(summary), "exit code:  130 (interrupted)") {
		t.Errorf("what the interrupted run left: %s (%v)", summary, err)
	}
}

// A command that is blocked does not end with the first interrupt, and ends at once with the second.
func TestSecondInterruptExitsAtOnce(t *testing.T) {
	c, stderr := started(t, "cluster-init-blocked", nil, "version")
	eventually(t, func() bool { return strings.Contains(stderr.String(), "blocked") })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	// The second one must not come before the first was taken note of: the kernel would make one of them.
	eventually(t, func() bool { return strings.Contains(stderr.String(), "press Ctrl-C again") })
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := waited(t, c); code != -int(syscall.SIGINT) {
		t.Errorf("exit code %d, want the end by the signal itself\n%s", code, stderr)
	}
	if !strings.Contains(stderr.String(), "press Ctrl-C again to exit at once") ||
		strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("stderr:\n%s", stderr)
	}
}

func eventually(t *testing.T, check func() bool) {
	t.Helper()
	bound := time.After(20 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-bound:
			t.Fatal("not within 20s")
		case <-tick.C:
		}
	}
}

// A closed pipe, a terminal that hangs up and the end of a session interrupt the run. They never end it at once. A
// reader that is gone shows only when something is written: there the server answers, and an error is written to a
// closed pipe.
func TestNobodyReadsAnyMore(t *testing.T) {
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // where this test runs under nohup, its processes would ignore it too
	defer signal.Stop(heard)
	const readerGone = "the reader is gone"
	for name, leave := range map[string]func(*exec.Cmd, *os.File) error{
		readerGone:             func(_ *exec.Cmd, reader *os.File) error { return reader.Close() },
		"the session ends":     func(c *exec.Cmd, _ *os.File) error { return c.Process.Signal(syscall.SIGTERM) },
		"the terminal hung up": func(c *exec.Cmd, _ *os.File) error { return c.Process.Signal(syscall.SIGHUP) },
		"the terminal hung up, and the session ends": func(c *exec.Cmd, _ *os.File) error {
			return errors.Join(c.Process.Signal(syscall.SIGHUP), c.Process.Signal(syscall.SIGTERM))
		},
		"both, one after the other": func(c *exec.Cmd, reader *os.File) error {
			return errors.Join(reader.Close(), c.Process.Signal(syscall.SIGHUP), c.Process.Signal(syscall.SIGHUP))
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked, answer := make(chan struct{}, 1), make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked <- struct{}{}
				select {
				case <-answer:
					w.WriteHeader(http.StatusUnauthorized) // an error that is written to the closed pipe
				case <-r.Context().Done():
				}
			}))
			defer server.Close()
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			artifacts := filepath.Join(t.TempDir(), "artifacts")
			c := exec.CommandContext(t.Context(), "cluster-init", "up", "kubeadm-capd", "--source", "git",
				"--source-url", server.URL+"/repo.git", "--output-dir", artifacts)
			c.Env = append(os.Environ(), "HOME="+t.TempDir(), "CI=", "GITHUB_ACTIONS=", "GITLAB_CI=")
			c.Stdout, c.Stderr = writer, writer
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			writer.Close()
			<-asked
			if err := leave(c, reader); err != nil {
				t.Fatal(err)
			}
			if name == readerGone {
				close(answer)
			}
			if code := waited(t, c); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			summary, err := os.ReadFile(filepath.Join(artifacts, "summary.txt"))
			if err != nil {
				t.Errorf("it did not come to the end of the run: %v", err)
			}
			// Where the error is the first that is written, what the run left is from before anybody knew that the
			// reader is gone.
			if name != readerGone && !strings.Contains(string(summary), "exit code:  130 (interrupted)") {
				t.Errorf("what the interrupted run left: %s", summary)
			}
		})
	}
}

func TestARunUnderNohupGoesOn(t *testing.T) {
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	c := exec.CommandContext(t.Context(), "nohup", "cluster-init", "up", "kubeadm-capd", "--source", "git",
		"--source-url", server.URL+"/repo.git", "--output-dir", t.TempDir())
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), "CI=", "GITHUB_ACTIONS=", "GITLAB_CI=")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	close(answer)
	if code := waited(t, c); code != 41 {
		t.Errorf("exit code %d, want 41, the server's answer", code)
	}
}
