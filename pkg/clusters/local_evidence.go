package clusters

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// LocalEvidence is what earlier runs with this state folder left in it. It counts if no cluster that could be checked
// holds the definition.
type LocalEvidence struct {
	// Backup is the newest backup of the definition, or the record of a move whose backup was moved away. It means that
	// a pivot was begun, or that a backup was made from the management cluster. Empty means that there is none.
	Backup string
	// Building reports whether a run with this folder created the bootstrap cluster and none has deleted it after a
	// pivot.
	Building bool
	Err      error // why the evidence is not known
}

// ReadLocalEvidence reads what earlier runs left in the state folder of a cluster. It changes nothing.
func ReadLocalEvidence(stateFolder, cluster string) LocalEvidence {
	entries, err := os.ReadDir(stateFolder) // sorted by name, which ends with the time
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return LocalEvidence{Err: fmt.Errorf("read the state folder: %w", err)}
	}
	var found LocalEvidence
	for _, e := range slices.Backward(entries) {
		if found.Backup == "" && owned.TellsOfPivot(cluster, e.Name()) {
			found.Backup = filepath.Join(stateFolder, e.Name())
		}
		found.Building = found.Building || e.Name() == builtName
	}
	return found
}
