package world

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// LocalEvidence are what earlier runs with this state folder left in it. They count where nothing that could be asked
// holds the definition.
type LocalEvidence struct {
	// Backup is the newest backup of the definition, or the record of a move whose backup was moved away: a pivot was
	// begun, or the management cluster was asked for it. Empty: there is none.
	Backup string
	// Building is whether a run with this folder made the bootstrap cluster and none has deleted it after a pivot.
	Building bool
	Err      error // why that is not known
}

func (w *World) traces() LocalEvidence {
	entries, err := os.ReadDir(w.StateFolder) // sorted by name, which ends with the time
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return LocalEvidence{Err: fmt.Errorf("read the state folder: %w", err)}
	}
	var t LocalEvidence
	for _, e := range slices.Backward(entries) {
		if t.Backup == "" && owned.TellsOfPivot(w.Environment.ClusterName(), e.Name()) {
			t.Backup = filepath.Join(w.StateFolder, e.Name())
		}
		t.Building = t.Building || e.Name() == builtName
	}
	return t
}
