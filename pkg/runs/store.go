// Package runs keeps the events of each run, so that they can be read and replayed later. Each run is one file that
// only the user can read.
package runs

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Most is how many runs of each command are kept.
const Most = 20

const (
	// Folder is the name of a Store's folder within the state folder of all clusters. No Cluster can have it: a name
	// begins with a letter.
	Folder    = ".runs"
	suffix    = ".jsonl"
	stamp     = "20060102T150405Z"
	attempts  = 100 // to find a name that is free: runs may begin in the same second
	hintShape = "Run \"cluster-init runs list\" to see which runs are kept."
)

// Store is a folder that runs are kept in. It need not exist.
type Store struct{ Dir string }

// create creates and locks the file of a run. The lock lasts until the file is closed, or this process ends.
func (s Store) create(command, environment string, started time.Time) (*os.File, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	id := strings.Join([]string{started.UTC().Format(stamp), words(command), words(filepath.Base(environment))}, "-")
	for n := range attempts {
		name := id
		if n > 0 {
			name = fmt.Sprintf("%s-%d", id, n+1)
		}
		file, err := os.OpenFile(filepath.Join(s.Dir, name+suffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND,
			0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", file.Name(), err), file.Close())
		}
		return file, nil
	}
	return nil, fmt.Errorf("create %s: %w", filepath.Join(s.Dir, id+suffix), fs.ErrExist)
}

// words turns text into a part of a file name.
func words(text string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return '-'
	}, text), "-.")
}

// prune deletes the oldest runs of each command beyond Most, so that many backups never displace runs of up. It keeps
// running ones.
func (s Store) prune() error {
	ids, err := s.ids()
	if err != nil || len(ids) <= Most {
		return err
	}
	var all []error
	kept := map[string]int{}
	for _, id := range ids {
		path := s.path(id)
		command := commandIn(path)
		if kept[command]++; kept[command] <= Most {
			continue
		}
		running, err := isLocked(path)
		if running || err != nil {
			if !errors.Is(err, fs.ErrNotExist) { // another run may prune at the same time
				all = append(all, err)
			}
			continue
		}
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// commandIn returns the command of a kept run, from its first event. It is empty if that cannot be read.
func commandIn(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	const longest = 64 << 10
	line, _ := bufio.NewReader(io.LimitReader(file, longest)).ReadBytes('\n')
	var started struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(line, &started) != nil {
		return ""
	}
	return started.Command
}

// ids returns the IDs of the kept runs, newest first.
func (s Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("list the kept runs: %w", err), fault.RunUnreadable,
			"Set XDG_STATE_HOME to a folder that you may read.")
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && e.Type().IsRegular() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

func (s Store) path(id string) string { return filepath.Join(s.Dir, id+suffix) }

// List returns the kept runs, newest first. A run that cannot be read is in the list with its error.
func (s Store) List() ([]Recording, error) {
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	list := make([]Recording, 0, len(ids))
	for _, id := range ids {
		r, err := Read(s.path(id))
		if err != nil {
			r = &Recording{Path: s.path(id), Result: Unreadable, Unreadable: err.Error()}
		}
		r.ID = id
		list = append(list, *r)
	}
	return list, nil
}

// Find returns a run by "last", an ID from List, the beginning of exactly one ID, or the path of a file. A path has a
// separator or ends in .jsonl. If no kept run or several match, the error has the code fault.RunUnknown.
func (s Store) Find(what string) (*Recording, error) {
	if strings.ContainsRune(what, filepath.Separator) || strings.HasSuffix(what, suffix) {
		return Read(what)
	}
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	matches := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, what) })
	switch {
	case len(ids) == 0:
		return nil, fault.New(fault.RunUnknown, "no run is kept on this machine",
			"A run is kept once it has passed its checks: run \"cluster-init up ENVIRONMENT\".")
	case what == "last":
		matches = ids[:1]
	case slices.Contains(ids, what):
		matches = []string{what}
	case len(matches) == 0:
		return nil, fault.New(fault.RunUnknown, fmt.Sprintf("no run %q is kept", what), hintShape)
	case len(matches) > 1:
		return nil, fault.New(fault.RunUnknown, fmt.Sprintf("%d runs begin with %q", len(matches), what), hintShape)
	}
	r, err := Read(s.path(matches[0]))
	if r != nil {
		r.ID = matches[0]
	}
	return r, err
}
