// Package lock keeps two runs that use the same state folder from working on one cluster. The kernel keeps a file
// locked while its holder lives.
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

// Holder is the run that has a lock.
type Holder struct {
	Command string    `json:"command"` // of the run: "up kubeadm-capd"
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
}

// String is for people.
func (h Holder) String() string {
	if h.Command == "" { // its record is missing: not written yet, or the disk is full
		return "another run"
	}
	return fmt.Sprintf("`cluster-init %s` (process %d on %s, since %s)", h.Command, h.PID, h.Host,
		h.Since.Local().Format("15:04:05"))
}

// Lock is a held lock.
type Lock struct {
	file *os.File
	path string
	made []string // folders that were missing before, the deepest first
}

const hintFolder = "Set XDG_STATE_HOME to a writable folder."

// attempts is how often Acquire tries: another process may delete the file as it gives the lock back.
const attempts = 1000

// Acquire takes the lock on the file path and creates missing folders above it. It does not wait: if another process
// has the lock, the error has the code fault.Busy, and names that process if its record can be read. The kernel gives
// the lock back whenever its holder ends.
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

// pause is the time between two attempts of Await.
const pause = 100 * time.Millisecond

// Await takes a lock as Acquire does, but waits until the process that has it gives it back, or ctx ends. Use it for
// work of seconds.
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

// missing returns those of a folder and its parents that do not exist, the deepest first.
func missing(folder string) []string {
	var all []string
	for ; ; folder = filepath.Dir(folder) {
		if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
			return all
		}
		all = append(all, folder)
	}
}

// attempt fails with fs.ErrNotExist if another process deleted the file or its folder meanwhile, as it gave the lock
// back.
func attempt(path string) (*Lock, error) {
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if errors.Is(err, fs.ErrExist) { // it existed, and was gone when MkdirAll checked its type
		return nil, fmt.Errorf("create the folder of the lock: %w", fs.ErrNotExist)
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("create the folder of the lock: %w", err), fault.Usage, hintFolder)
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

// take locks the file, and fails with fs.ErrNotExist if it is no longer the file at path.
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
		_ = json.Unmarshal(content, &holder) // a half-written record counts as none
	}
	return fault.Retryable(fmt.Errorf("%s holds the lock on this cluster", holder), fault.Busy,
		"Wait for that run to end, or stop it with Ctrl-C. Then run the same command again.")
}

// sign writes the holder into the lock file. The lock is valid without it: cleanup must be able to run on a full disk.
func (l *Lock) sign(holder Holder) {
	if content, err := json.Marshal(holder); err == nil && l.file.Truncate(0) == nil {
		_, _ = l.file.WriteAt(content, 0)
	}
}

// Release gives the lock back. It deletes the file, and those folders that were missing before and are empty now.
func (l *Lock) Release() error {
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) { // a user deleted the file
		err = nil
	}
	for _, folder := range l.made {
		if os.Remove(folder) != nil { // it holds something else
			break
		}
	}
	return errors.Join(err, l.file.Close())
}
