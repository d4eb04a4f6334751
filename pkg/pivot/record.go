package pivot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// recordFormat is the version of the record file. No other version is read.
const recordFormat = 1

// record is what this machine knows of a move that it began, until the move is verified. It holds digests, so that the
// target can be compared even if the backup is encrypted.
type record struct {
	Format   int    `json:"format"`
	Backup   string `json:"backup"` // the name of the folder or file
	Identity string `json:"identity,omitempty"`
	// Generation is that of the Cluster at the source before it was paused. Resuming the Cluster there raises it.
	Generation int64      `json:"generation,omitempty"`
	Key        digester   `json:"key"`
	Objects    []recorded `json:"objects"`

	path string // of the backup
}

// recorded is an object that is to be moved.
type recorded struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Shared     bool   `json:"shared,omitempty"`  // both sides keep it
	Passing    bool   `json:"passing,omitempty"` // it is deleted when its machine is replaced
	parts
}

func (r recorded) object() capi.Object {
	return capi.Object{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Shared: r.Shared}
}

// String returns the object as "Kind namespace/name".
func (r recorded) String() string { return r.object().String() }

// objects returns all recorded objects.
func (r *record) objects() []capi.Object {
	if r == nil {
		return nil
	}
	var all []capi.Object
	for _, o := range r.Objects {
		all = append(all, o.object())
	}
	return all
}

// marker returns the path of the record next to a backup. The record is not in the backup's folder: it is removed when
// the move is verified, and the backup stays unchanged.
func marker(backup string) string {
	return strings.TrimSuffix(backup, owned.EncryptedSuffix) + owned.UnverifiedSuffix
}

// newRecord returns the record of a staged backup.
func newRecord(path string, m backup.Manifest, graph *capi.Graph, moves []capi.Object, generation int64) (
	*record, error) {
	r := &record{Format: recordFormat, Backup: filepath.Base(path), Identity: m.Identity, Generation: generation,
		Key: newDigester(), path: path}
	for _, o := range moves {
		u, there := graph.Get(o)
		if !there {
			return nil, fmt.Errorf("%s is not there any more", o)
		}
		r.Objects = append(r.Objects, r.Key.record(o, u))
	}
	return r, nil
}

// write writes the record, before the backup has its name and before the move. Only a verification removes it.
func (r *record) write() (err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	dir := filepath.Dir(r.path)
	f, err := os.CreateTemp(dir, ".incomplete-*") // CreateTemp makes it 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing is left of it after the rename
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), marker(r.path)); err != nil {
		return err
	}
	return syncDir(dir)
}

// readRecord reads the record of a backup. Its error names the file.
func readRecord(path string) (*record, error) {
	text, err := os.ReadFile(marker(path))
	if err != nil {
		return nil, fmt.Errorf("read what was moved: %w", err)
	}
	r := &record{path: path}
	switch err := json.Unmarshal(text, r); {
	case err != nil:
		return nil, fmt.Errorf("read what was moved: %s was truncated, changed, or written by another version of "+
			"cluster-init", marker(path))
	case r.Format != recordFormat:
		return nil, fmt.Errorf("read what was moved: %s has format %d, and this cluster-init reads %d", marker(path),
			r.Format, recordFormat)
	case len(r.Key) == 0 || len(r.Objects) == 0:
		return nil, fmt.Errorf("read what was moved: %s holds no objects", marker(path))
	}
	return r, nil
}

// ofPreviousCluster reports whether the record is of an earlier cluster of the same name. Then neither side has its
// certificate authority, and at least one has another.
func (r *record) ofPreviousCluster(ctx context.Context, scope clusters.Scope, sides ...clusters.Side) (bool, error) {
	other := false
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
			other = true
		}
	}
	return other, nil
}

// sourceResumedSince reports whether a person has resumed the source since. Then the record is outdated, because
// another attempt may have moved later changes.
func (r *record) sourceResumedSince(source clusters.Holding, scope clusters.Scope) bool {
	own := source.Cluster(scope.Cluster)
	if own == nil || r.Generation == 0 {
		return false
	}
	changes := int64(1) // the pause of the move
	if own.Deleting {
		changes++
	}
	return own.Generation > r.Generation+changes
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
