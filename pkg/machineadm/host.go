package machineadm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/output"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

const (
	commandTimeout = 2 * time.Minute // for one command of the operating system
	killDelay      = 10 * time.Second
	maxOutput      = 16 << 10 // bytes that are kept of a command's output

	lockPath = "/run/machineadm.lock"
)

// Host is the machine that is prepared.
type Host struct {
	// Root is the folder that stands for /; empty on a machine.
	Root string
	// Path has the folders to search for commands, with colons between them.
	Path string
	// Fetcher fetches files of Kubernetes.
	Fetcher Fetcher
	// Run runs a command and returns the end of its output. Nil runs it on this machine.
	Run func(ctx context.Context, name string, args ...string) (string, error)
}

// at returns the place of an absolute path.
func (h Host) at(path string) string { return filepath.Join(h.Root, path) }

// run runs a command of the operating system. The error has the last line of its output.
func (h Host) run(ctx context.Context, name string, args ...string) error {
	_, err := h.output(ctx, name, args...)
	return err
}

// output does the same, and returns the end of the output.
func (h Host) output(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTimeout, fmt.Errorf("no end after %s", commandTimeout))
	defer cancel()
	run := h.Run
	if run == nil {
		run = h.execute
	}
	output, err := run(ctx, name, args...)
	if err == nil {
		return output, nil
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if line := lastLine(output); line != "" {
		return output, fmt.Errorf("run %s: %w: %s", name, err, line)
	}
	return output, fmt.Errorf("run %s: %w", name, err)
}

func (h Host) execute(ctx context.Context, name string, args ...string) (string, error) {
	path, err := h.find(name)
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, path, args...)
	command.WaitDelay = killDelay
	said := &output.Tail{Limit: maxOutput}
	command.Stdout, command.Stderr = said, said
	err = command.Run()
	return said.String(), err
}

// find returns the path of a command; a name with a slash is one.
func (h Host) find(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, folder := range filepath.SplitList(h.Path) {
		if path := filepath.Join(folder, name); isProgram(h.at(path)) {
			return h.at(path), nil
		}
	}
	return "", fmt.Errorf("the machine has no %s", name)
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// exists reports whether there is a file or folder.
func (h Host) exists(path string) (bool, error) {
	_, err := os.Stat(h.at(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// write makes a file with its folder. A reader sees it whole or not at all.
func (h Host) write(path, content string, mode fs.FileMode) error {
	place := h.at(path)
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	return wholefile.Write(place, []byte(content), mode)
}

// lock makes sure that one process at a time prepares the machine.
func (h Host) lock() (unlock func(), err error) {
	place := h.at(lockPath)
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return nil, fmt.Errorf("lock the machine: %w", err)
	}
	file, err := os.OpenFile(place, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the machine: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("another machineadm prepares this machine: %w", err), file.Close())
	}
	return func() { _ = file.Close() }, nil
}

// lastLine returns the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
