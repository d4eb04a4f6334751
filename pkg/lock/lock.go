// Package lock keeps two runs on one machine from working on one cluster: a file, locked by the kernel for as long as
// its holder lives.
package lock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Holder says who has a lock.
type Holder struct {
	Command string    `json:"command"` // what it was asked for: "up kubeadm-capd"
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
}

// String is for people.
func (h Holder) String() string {
	if h.Command == "" { // it has not said yet who it is
		return "another run"
	}
	return fmt.Sprintf("`cluster-init %s` (process %d on %s, since %s)", h.Command, h.PID, h.Host,
		h.Since.Local().Format("15:04:05"))
}

// Lock is a lock that is held.
type Lock struct {
	file *os.File
	path string
	made []string // folders that were made for it, the deepest first
}

const hintFolder = "Set XDG_STATE_HOME to a folder that you may write to."

// attempts bounds how often another process may give a lock back, and delete its file, right while it is being taken.
const attempts = 1000

// Acquire takes the lock that is the file path; folders above it are made where they are missing. It does not wait:
// when another process has the lock, the error has the code fault.Busy and says who that is. The kernel gives the lock
// back when its holder ends, however.
func Acquire(path string, holder Holder) (*Lock, error) {
	made := missing(filepath.Dir(path))
	var err error
	for range attempts {
		var l *Lock
		if l, err = attempt(path); err == nil {
			l.made = made
			l.sign(holder)
			return l, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, err
}

// pause is between two attempts to take a lock that is waited for.
const pause = 100 * time.Millisecond

// Await takes a lock as Acquire does, and waits for a process that has it. It is for what takes seconds.
func Await(ctx context.Context, path string, holder Holder) (*Lock, error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		l, err := Acquire(path, holder)
		if fault.CodeOf(err) != fault.Busy {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the lock %s: %w", path, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// missing are those of a folder and the ones above it that do not exist, the deepest first.
func missing(folder string) []string {
	var all []string
	for ; ; folder = filepath.Dir(folder) {
		if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
			return all
		}
		all = append(all, folder)
	}
}

// attempt fails with fs.ErrNotExist when another process, which gives the lock back, deleted the file or its folder
// meanwhile.
func attempt(path string) (*Lock, error) {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if errors.Is(err, fs.ErrExist) { // it was there, and gone when MkdirAll looked what it is
		return nil, fmt.Errorf("make the folder of the lock: %w", fs.ErrNotExist)
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("make the folder of the lock: %w", err), fault.Usage, hintFolder)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("open the lock: %w", err), fault.Usage, hintFolder)
	}
	err = take(file, path)
	if err == nil {
		return &Lock{file: file, path: path}, nil
	}
	defer file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, busy(file)
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// take locks the file, and fails with fs.ErrNotExist when it is not the one any more that has the path.
func take(file *os.File, path string) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	locked, err := file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(path)
	if err == nil && !os.SameFile(locked, there) {
		return fs.ErrNotExist
	}
	return err
}

func busy(file *os.File) error {
	var holder Holder
	if content, err := io.ReadAll(file); err == nil {
		_ = json.Unmarshal(content, &holder) // half of it is as good as nothing
	}
	return fault.Retryable(fmt.Errorf("%s is at work on this cluster", holder), fault.Busy,
		"Wait for its end, or end it with Ctrl-C, and run the same command again.")
}

// sign says who holds the lock. It is held without too: on a full disk, say, where cleanup must be able to run.
func (l *Lock) sign(holder Holder) {
	if content, err := json.Marshal(holder); err == nil && l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt(content, 0)
	}
}

// Release gives the lock back. Its file goes, and so do the folders that were made for it and hold nothing else.
func (l *Lock) Release() error {
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) { // somebody cleaned up more
		err = nil
	}
	for _, folder := range l.made {
		if os.Remove(folder) != nil { // it holds something else
			break
		}
	}
	return errors.Join(err, l.file.Close())
}
