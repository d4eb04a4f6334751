package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/restore/quorum"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// etcdMark says that `restore --etcd` started the restored etcd on a machine. The file exists until the workload
// clusters are paused: a run that was interrupted in between cannot restore again, and a second one resumes it.
type etcdMark struct {
	Snapshot string `json:"snapshot"` // digest
	Machine  string `json:"machine"`
	path     string
}

func markOf(b *backup.Backup, state string) etcdMark {
	digest := sha256.Sum256(b.Snapshot)
	return etcdMark{Snapshot: hex.EncodeToString(digest[:]), path: filepath.Join(state, "etcd-restore.json")}
}

// write makes the file.
func (m etcdMark) write(machine string) error {
	m.Machine = machine
	text, err := json.Marshal(m)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(m.path), 0o700)
	}
	if err == nil {
		err = wholefile.Write(m.path, text, 0o600)
	}
	if err != nil {
		return fault.Wrap(fmt.Errorf("write %s: %w", m.path, err), fault.RestoreFailed,
			"Make room for the file, and run the same command again: it starts anew.")
	}
	return nil
}

// machine returns the machine on which an earlier run started the same snapshot. Empty means none.
func (m etcdMark) machine() (string, error) {
	text, err := os.ReadFile(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var kept etcdMark
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("read %s: %w", m.path, err), fault.RestoreFailed,
			"Pause each workload cluster that has changed since the snapshot, and delete the file.")
	}
	if kept.Snapshot != m.Snapshot {
		return "", nil
	}
	return kept.Machine, nil
}

func (m etcdMark) remove() error {
	if err := os.Remove(m.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the mark of a restore that is complete: %w", err)
	}
	return nil
}

// resumes returns the machine of a restore that only has to be ended. Empty means that it begins. checked is the result
// of quorum.Check.
func (m etcdMark) resumes(checked error) (string, error) {
	if !errors.Is(checked, quorum.ErrMajority) {
		return "", checked
	}
	machine, err := m.machine()
	if err == nil && machine == "" {
		return "", checked
	}
	return machine, err
}

// restored restores the snapshot, or waits for the API server if an earlier run restored it on a machine. It returns
// the machine.
func restored(ctx context.Context, in quorum.Input, earlier string) (string, error) {
	if earlier != "" {
		in.Report("an earlier run restored this snapshot on %s, and did not end: resuming it", earlier)
		return earlier, quorum.Await(ctx, in)
	}
	in.Patience = 0 // Run checks again, and etcd had its time
	on, err := quorum.Run(ctx, in)
	if err != nil {
		return "", err
	}
	return on.Name(), nil
}
