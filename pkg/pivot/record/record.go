// Package record keeps what this machine knows of a move that it began, next to the backup, until the move is verified.
// It compares objects with what was recorded of them, and knows nothing of their values.
package record

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// format is the version of the record file. No other version is read.
const format = 1

// Record is what this machine knows of a move that it began, until the move is verified. It holds digests, so that the
// target can be compared even if the backup is encrypted.
type Record struct {
	Format   int    `json:"format"`
	Backup   string `json:"backup"` // the name of the folder or file
	Identity string `json:"identity,omitempty"`
	// Generation is that of the Cluster at the source before it was paused. Resuming the Cluster there raises it.
	Generation int64    `json:"generation,omitempty"`
	Key        Digester `json:"key"`
	Entries    []Entry  `json:"objects"`

	// Path is that of the backup: a folder, or an encrypted file.
	Path string `json:"-"`
}

// Objects returns all recorded objects; none for nil.
func (r *Record) Objects() []capi.Object {
	if r == nil {
		return nil
	}
	var all []capi.Object
	for _, o := range r.Entries {
		all = append(all, o.Object())
	}
	return all
}

// Marker returns the path of the record next to a backup. The record is not in the backup's folder: it is removed when
// the move is verified, and the backup stays unchanged.
func Marker(backup string) string {
	return strings.TrimSuffix(backup, owned.EncryptedSuffix) + owned.UnverifiedSuffix
}

// New returns the record of a staged backup.
func New(path string, m backup.Manifest, graph *capi.Graph, moves []capi.Object, generation int64) (*Record, error) {
	r := &Record{Format: format, Backup: filepath.Base(path), Identity: m.Identity, Generation: generation,
		Key: NewDigester(), Path: path}
	for _, o := range moves {
		u, exists := graph.Get(o)
		if !exists {
			return nil, fmt.Errorf("%s is not there any more", o)
		}
		r.Entries = append(r.Entries, r.Key.Entry(o, u))
	}
	return r, nil
}

// Write writes the record, before the backup has its name and before the move.
func (r *Record) Write() error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	dir := filepath.Dir(r.Path)
	if err := wholefile.Write(Marker(r.Path), text, 0o600); err != nil {
		return err
	}
	return syncDir(dir)
}

// Read reads the record of a backup. Its error names the file.
func Read(path string) (*Record, error) {
	text, err := os.ReadFile(Marker(path))
	if err != nil {
		return nil, fmt.Errorf("read what was moved: %w", err)
	}
	r := &Record{Path: path}
	switch err := json.Unmarshal(text, r); {
	case err != nil:
		return nil, fmt.Errorf("read what was moved: %s was truncated, changed, or written by another version of "+
			"cluster-init", Marker(path))
	case r.Format != format:
		return nil, fmt.Errorf("read what was moved: %s has format %d, and this cluster-init reads %d", Marker(path),
			r.Format, format)
	case len(r.Key) == 0 || len(r.Entries) == 0:
		return nil, fmt.Errorf("read what was moved: %s holds no objects", Marker(path))
	}
	return r, nil
}

// OfPreviousCluster reports whether the record is of an earlier cluster of the same name. Then neither side has its
// certificate authority, and at least one has another.
func (r *Record) OfPreviousCluster(ctx context.Context, scope clusters.Scope, sides ...clusters.Side) (bool, error) {
	previous := false
	for _, side := range sides {
		if side.Client == nil || r.Identity == "" {
			continue
		}
		certificate, err := capi.Authority(ctx, side.Client, client.ObjectKey{Namespace: scope.Namespace,
			Name: scope.Cluster})
		if err != nil {
			return false, fmt.Errorf("see which cluster it is: %w", err)
		}
		switch backup.IdentityOf(certificate) {
		case r.Identity:
			return false, nil
		case "":
		default:
			previous = true
		}
	}
	return previous, nil
}

// SourceResumedSince reports whether a person has resumed the source since. Then the record is outdated, because
// another attempt may have moved later changes.
func (r *Record) SourceResumedSince(source clusters.Holding, scope clusters.Scope) bool {
	cluster := source.Cluster(scope.Cluster)
	if cluster == nil || r.Generation == 0 {
		return false
	}
	changes := int64(1) // the pause of the move
	if cluster.Deleting {
		changes++
	}
	return cluster.Generation > r.Generation+changes
}

// syncDir makes a new file name survive a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
