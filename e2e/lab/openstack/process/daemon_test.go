package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// start starts a daemon in a new folder; it ends with the test.
func start(t *testing.T, args ...string) Folder {
	t.Helper()
	folder := At(t.TempDir())
	t.Cleanup(func() {
		if _, err := folder.Stop(context.WithoutCancel(t.Context()), "daemon"); err != nil {
			t.Error(err)
		}
	})
	if err := folder.Start(t.Context(), Daemon{Name: "daemon", Args: args}); err != nil {
		t.Fatal(err)
	}
	return folder
}

// eventually waits for something that another process does.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := Wait(t.Context(), what, 10*time.Second, func(context.Context) error {
		if holds() {
			return nil
		}
		return errors.New("not yet")
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDaemonHasItsOwnSessionAndIsFoundAgain(t *testing.T) {
	folder := start(t, "/bin/sleep", "60")
	noted, err := folder.identity("daemon")
	if err != nil {
		t.Fatal(err)
	}
	if now, err := readStat(noted.pid); err != nil || now.session != noted.pid {
		t.Errorf("process %d has session %d, %v", noted.pid, now.session, err)
	}
	if err := folder.Start(t.Context(), Daemon{Name: "daemon", Args: []string{"/bin/sleep", "60"}}); err != nil {
		t.Fatal(err)
	}
	if again, _ := At(folder.dir).identity("daemon"); again != noted {
		t.Errorf("started again: %v, then %v", noted, again)
	}
	// What has put the note in its place may still be ending.
	eventually(t, fmt.Sprintf("the only process of the daemon is %d", noted.pid),
		func() bool { return slices.Equal(folder.Processes("daemon"), []int{noted.pid}) })
	if folder.Memory("daemon") <= 0 {
		t.Error("uses no memory")
	}
	killed, err := folder.Stop(t.Context(), "daemon")
	if err != nil || len(killed) != 0 || folder.Running("daemon") {
		t.Errorf("stop: killed %v, %v, runs: %t", killed, err, folder.Running("daemon"))
	}
	if left, err := folder.Started(); err != nil || len(left) != 0 {
		t.Errorf("notes left: %v, %v", left, err)
	}
}

// A lock that the caller's shell holds must not live on in a daemon.
func TestDaemonInheritsNoDescriptor(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	inherited, err := syscall.Dup(int(file.Fd())) // without close-on-exec, as from a shell
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(inherited) }()
	folder := start(t, "/bin/sleep", "60")
	noted, err := folder.identity("daemon")
	if err != nil {
		t.Fatal(err)
	}
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", noted.pid))
	if err != nil || len(open) == 0 {
		t.Fatalf("open descriptors: %v, %v", open, err)
	}
	for _, descriptor := range open {
		if target, _ := os.Readlink(descriptor); target == file.Name() {
			t.Errorf("the daemon has %s", target)
		}
	}
}

// The note's process id is another process by now: that one is not ours, whatever session it leads.
func TestStopSparesAProcessThatGotTheID(t *testing.T) {
	foreign := exec.Command("/bin/sleep", "60")
	foreign.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := foreign.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = foreign.Process.Kill(), foreign.Wait() }()
	for name, change := range map[string]func(line, boot string) string{
		"another start time": func(line, boot string) string {
			fields := strings.Fields(line)
			fields[21] = "1"
			return strings.Join(fields, " ") + "\n" + boot
		},
		"another boot": func(line, _ string) string { return line + "\n" + "00000000-0000-0000-0000-000000000000\n" },
	} {
		t.Run(name, func(t *testing.T) {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", foreign.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			folder := At(t.TempDir())
			if err := os.MkdirAll(filepath.Join(folder.dir, "pid"), 0o700); err != nil {
				t.Fatal(err)
			}
			note := change(strings.TrimSpace(string(line)), bootID())
			if err := os.WriteFile(folder.note("daemon"), []byte(note), 0o600); err != nil {
				t.Fatal(err)
			}
			if folder.Running("daemon") {
				t.Error("taken for the daemon")
			}
			if _, err := folder.Stop(t.Context(), "daemon"); err != nil {
				t.Error(err)
			}
			if now, err := readStat(foreign.Process.Pid); err != nil || now.ended() {
				t.Errorf("it was ended: %+v, %v", now, err)
			}
		})
	}
}

// A daemon's first process has died and its children still have its port: they end too, at the next start at the
// latest.
func TestStartEndsChildrenOfOneThatDied(t *testing.T) {
	folder := start(t, "/bin/sh", "-c", "sleep 60 & echo child")
	eventually(t, "the end of the first process", func() bool { return !folder.Running("daemon") })
	noted, err := folder.identity("daemon")
	if err != nil {
		t.Fatal(err)
	}
	// This test is its parent; that of a daemon found again is init, which takes the result at once.
	if _, err := syscall.Wait4(noted.pid, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	orphans := folder.Processes("daemon")
	if len(orphans) != 1 {
		t.Fatalf("children: %v, want one", orphans)
	}
	if err := folder.Start(t.Context(), Daemon{Name: "daemon", Args: []string{"/bin/sleep", "60"}}); err != nil {
		t.Fatal(err)
	}
	if now, err := readStat(orphans[0]); err == nil && !now.ended() {
		t.Errorf("process %d still runs", orphans[0])
	}
	if !folder.Running("daemon") {
		t.Error("the new one does not run")
	}
}

func TestStopKillsWhatDoesNotEnd(t *testing.T) {
	folder := start(t, "/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 60; done")
	folder.grace = 50 * time.Millisecond
	eventually(t, "its first line", func() bool {
		log, err := os.ReadFile(folder.Log("daemon"))
		return err == nil && strings.Contains(string(log), "deaf")
	})
	killed, err := folder.Stop(t.Context(), "daemon")
	if err != nil || len(killed) != 1 || killed[0] != "daemon" {
		t.Errorf("killed %v, %v", killed, err)
	}
	if left := folder.Processes("daemon"); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestStartRefusesATakenAddress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	address := listener.Addr().String()
	err = At(t.TempDir()).Start(t.Context(), Daemon{Name: "api", Args: []string{"/bin/sleep", "60"},
		Listen: []string{address}})
	if err == nil || !strings.Contains(err.Error(), "api") || !strings.Contains(err.Error(), address) {
		t.Errorf("error %v does not name the daemon and %s", err, address)
	}
}

func TestReadyTellsWhichDaemonEndedAndWhatItSaid(t *testing.T) {
	folder := start(t, "/bin/sh", "-c", "echo out of luck >&2; exit 3")
	err := folder.Ready(t.Context(), "the service", []Daemon{{Name: "daemon"}}, time.Minute,
		func(context.Context) error {
			return errors.New("no answer")
		})
	if err == nil {
		t.Fatal("ready")
	}
	for _, part := range []string{"the service", "daemon: it has ended", "| out of luck", folder.Log("daemon")} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not say %q:\n%v", part, err)
		}
	}
}

func TestStartKeepsTheLogBefore(t *testing.T) {
	folder := start(t, "/bin/sh", "-c", "echo first")
	eventually(t, "the end of the first run", func() bool { return !folder.Running("daemon") })
	if err := folder.Start(t.Context(), Daemon{Name: "daemon", Args: []string{"/bin/sleep", "60"}}); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(folder.Log("daemon") + ".old")
	if err != nil || string(old) != "first\n" {
		t.Errorf("log before: %q, %v", old, err)
	}
}

func TestRun(t *testing.T) {
	folder := At(t.TempDir())
	run := func(ctx context.Context, script string) error {
		return folder.Run(ctx, Daemon{Name: "program", Args: []string{"/bin/sh", "-c", script}})
	}
	if err := run(t.Context(), "exit 0"); err != nil {
		t.Error(err)
	}
	if err := run(t.Context(), "echo out of luck; exit 3"); err == nil ||
		!strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "| out of luck") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, "sleep 60"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if left, err := folder.Started(); err != nil || len(left) != 0 {
		t.Errorf("notes left: %v, %v", left, err)
	}
}

// Of two that change the same database, the one whose starter was killed must not go on.
func TestRunEndsTheOneBefore(t *testing.T) {
	folder := start(t, "/bin/sleep", "60") // as a killed Run leaves it
	before := folder.Processes("daemon")
	if err := folder.Run(t.Context(), Daemon{Name: "daemon", Args: []string{"/bin/true"}}); err != nil {
		t.Fatal(err)
	}
	if now, err := readStat(before[0]); err == nil && !now.ended() {
		t.Errorf("process %d still runs", before[0])
	}
}
