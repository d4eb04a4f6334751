// Package pivot moves the definition of a management cluster from the bootstrap cluster into itself: it plans,
// guards, backs up, moves, verifies, and tells from what both sides hold how far an earlier move has come.
package pivot

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Flux stops and resumes whatever would put back, or prune, what a move takes away. Resume is called only while
// nothing was moved yet.
type Flux interface {
	Suspend(ctx context.Context) error
	Resume(ctx context.Context) error
	// Stands is whether it is suspended for this pivot: then one was begun.
	Stands(ctx context.Context) (bool, error)
}

// Mover carries out a move; capi.Move is the real one.
type Mover func(ctx context.Context, in capi.MoveInput) error

// Input is what Run needs. All fields but Announce and Log are required, if they do not say otherwise.
type Input struct {
	Source, Target clusters.Side
	// Back is for a move away from a management cluster that is not well: its providers and Machines need not be ready.
	Back      bool
	Scope     clusters.Scope
	BackupDir string // the backup is a new folder, or file, in it
	// Recipients are who can open the backup; none, which is allowed: it is not encrypted.
	Recipients backup.Recipients
	// Signer signs the backup; without a key it is not signed.
	Signer  backup.Signer
	Version string // of cluster-init, for the backup; may be empty
	// Patience is for how long a source that is resumed to be moved again may take to be well; 0: it is looked at once.
	Patience time.Duration
	Flux     Flux
	Move     Mover
	Now      func() time.Time
	// Announce is called when the move is certain and nothing was moved yet, once for each attempt; nil: nobody has
	// anything to say.
	Announce func(context.Context) error
	Log      func(string) // progress lines; nil drops them

	keepSuspended bool // something is on the target already
}

// Result is what a pivot did.
type Result struct {
	Already bool          // true when an earlier run had done it all: the rest is then empty
	Moved   []capi.Object // as they were at the source
	Backup  string        // the folder, or the encrypted file, that holds what was moved
	// Extra are objects on the target that were not planned: its controllers run again by the time they are
	// looked at, and may have made new ones.
	Extra []capi.Object
}
