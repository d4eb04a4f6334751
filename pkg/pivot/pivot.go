// Package pivot moves the definition of a management cluster from the bootstrap cluster into itself. It plans, guards,
// backs up, moves and verifies. From what both sides hold it finds how far an earlier move has come.
package pivot

import (
	"context"
	"time"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Flux suspends and resumes what would restore, or prune, the objects that a move takes away. Resume is called only
// while nothing was moved yet.
type Flux interface {
	Suspend(ctx context.Context) error
	Resume(ctx context.Context) error
	// Stands reports whether Flux is suspended for this pivot: then a pivot was begun.
	Stands(ctx context.Context) (bool, error)
}

// Mover performs a move; capi.Move is the real one.
type Mover func(ctx context.Context, input capi.MoveInput) error

// Input is what Run needs. A field is required unless its comment says otherwise.
type Input struct {
	Source, Target clusters.Side
	// Back marks a move away from a management cluster that may be unhealthy: its providers and Machines need not be
	// ready.
	Back      bool
	Scope     clusters.Scope
	BackupDir string // the backup is a new folder, or file, in it
	// Recipients can open the backup. Without recipients, which is allowed, it is not encrypted.
	Recipients backup.Recipients
	// Signer signs the backup; without a key it is not signed.
	Signer  backup.Signer
	Version string // of cluster-init, for the backup; may be empty
	// Patience bounds the wait, before a move, for what time alone may remove, such as a provider or a Machine that is
	// not ready. If the source was resumed to be moved again, it bounds the wait for every rule. Zero means a single
	// check.
	Patience time.Duration
	Flux     Flux
	Move     Mover
	Now      func() time.Time
	// Announce is called once for each attempt, after the backup and right before the move. Its error prevents the
	// move. Nil means no announcement.
	Announce func(context.Context) error
	Log      func(string) // progress lines; nil drops them
	Waiting  func(string) // what Patience is needed for; nil drops it

	keepSuspended bool // something is on the target already
}

// Result is what a pivot did.
type Result struct {
	Already bool          // an earlier run had finished the pivot: the other fields are empty
	Moved   []capi.Object // as planned; after a recovery that needed no move: all that the target holds
	Backup  string        // the folder, or the encrypted file, of what was moved; "" if another machine has it
}
