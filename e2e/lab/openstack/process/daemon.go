// Package process runs the lab's daemons: each in a session of its own, so that it outlives the command that starts it,
// and noted in a folder, so that the next command finds it and ends exactly what was started.
package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// noteTimeout bounds the wait for the note that a daemon leaves before it becomes its program.
const noteTimeout = 10 * time.Second

// launcher notes who the process is before it becomes the daemon: a starter that is killed in between leaves no daemon
// that is not known. The note holds what Linux says of the process, with its start time, and which boot that counts
// from.
const launcher = `umask 077; cat /proc/$$/stat /proc/sys/kernel/random/boot_id >"$0.new" && mv "$0.new" "$0" && exec "$@"`

// Daemon is one program that runs until it is stopped.
type Daemon struct {
	Name string
	Args []string // the program, with its full path, and its arguments; nothing secret
	Env  []string // all of its environment
	// Listen are the addresses (host:port) that it is going to open. Start refuses when another program has one.
	Listen []string
}

// Folder is where daemons run: pid/ has their notes, log/ what they wrote, var/ is their working directory.
type Folder struct {
	dir   string
	grace time.Duration // that Stop gives daemons to end by themselves
}

// At returns the folder dir, which need not exist yet.
func At(dir string) Folder { return Folder{dir: dir, grace: grace} }

// Start starts a daemon unless it runs. When Start returns, the daemon is noted, not yet ready.
func (f Folder) Start(ctx context.Context, daemon Daemon) error {
	if f.Running(daemon.Name) {
		return nil
	}
	if err := f.Clear(ctx, daemon); err != nil {
		return err
	}
	cmd, err := f.launch(daemon)
	if err != nil {
		return fmt.Errorf("start %s: %w", daemon.Name, err)
	}
	// No process waits for it: it is meant to outlive this process, and what has ended counts as gone.
	pid := cmd.Process.Pid
	if err := cmd.Process.Release(); err != nil {
		return fmt.Errorf("start %s: %w", daemon.Name, err)
	}
	return Wait(ctx, "the note of "+daemon.Name, noteTimeout, func(context.Context) error {
		if identity, err := f.identity(daemon.Name); err != nil || identity.pid != pid {
			return errors.New("not written yet")
		}
		return nil
	})
}

// Clear makes sure that nothing is in the way of a daemon that does not run: it ends what is left of one that has died,
// and fails when another program has one of its addresses.
func (f Folder) Clear(ctx context.Context, daemon Daemon) error {
	if f.Running(daemon.Name) {
		return nil
	}
	if _, err := f.Stop(ctx, daemon.Name); err != nil {
		return err
	}
	for _, address := range daemon.Listen {
		if err := free(ctx, address); err != nil {
			return fmt.Errorf("start %s: %w", daemon.Name, err)
		}
	}
	return nil
}

// launch starts the process, in a session of its own.
func (f Folder) launch(daemon Daemon) (*exec.Cmd, error) {
	for _, dir := range []string{"pid", "var", "log"} {
		if err := os.MkdirAll(filepath.Join(f.dir, dir), 0o700); err != nil {
			return nil, err
		}
	}
	log, err := f.openLog(daemon.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	if err := keepDescriptors(); err != nil {
		return nil, err
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", launcher, f.note(daemon.Name)}, daemon.Args...)...)
	cmd.Dir = filepath.Join(f.dir, "var")
	cmd.Env = daemon.Env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, cmd.Start()
}

// keepDescriptors keeps what this process has inherited, such as a lock of its caller, from going on to a daemon.
// Go marks the files that it opens itself.
func keepDescriptors() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		var descriptor int
		if _, err := fmt.Sscan(entry.Name(), &descriptor); err == nil && descriptor > 2 {
			syscall.CloseOnExec(descriptor)
		}
	}
	return nil
}

// free reports whether the address has no listener yet.
func free(ctx context.Context, address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("%s cannot be listened on, another program may have it: %w", address, err)
	}
	return listener.Close()
}

// openLog opens a new log for the daemon and keeps the one before as .old.
func (f Folder) openLog(name string) (*os.File, error) {
	path := f.Log(name)
	if err := os.Rename(path, path+".old"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	return log, nil
}

// Log returns the path of the daemon's log.
func (f Folder) Log(name string) string { return filepath.Join(f.dir, "log", name+".log") }

// note returns the path of the daemon's note.
func (f Folder) note(name string) string { return filepath.Join(f.dir, "pid", name) }

// Started returns the names of the daemons that have a note: they were started and not stopped, and may have died
// since.
func (f Folder) Started() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(f.dir, "pid"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("look for daemons: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".new") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
