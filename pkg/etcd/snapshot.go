package etcd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// page is what the size of etcd's database is a multiple of, in bytes: the smallest page of any system.
const page = 512

// Snapshot is the database of one member at one time, and its SHA-256 behind it, as etcd sends it.
type Snapshot struct {
	Version string // of the member
	Data    []byte
}

// Snapshot reads a snapshot of at most that many bytes, and verifies its digest.
func (c *Client) Snapshot(ctx context.Context, most int64) (Snapshot, error) {
	status, err := c.client.Status(ctx, endpoint) // the snapshot of etcd 3.5 does not say its version
	if err != nil {
		return Snapshot{}, fmt.Errorf("ask etcd for its version: %w", err)
	}
	answer, err := c.client.SnapshotWithVersion(ctx)
	if err != nil {
		return Snapshot{}, fmt.Errorf("read a snapshot of etcd: %w", err)
	}
	defer answer.Snapshot.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Snapshot, most+1))
	if err != nil {
		return Snapshot{}, fmt.Errorf("read a snapshot of etcd: %w", err)
	}
	if int64(len(data)) > most {
		return Snapshot{}, fmt.Errorf("the snapshot of etcd is larger than %d MiB", most>>20)
	}
	return Snapshot{Version: status.Version, Data: data}, Verify(data)
}

// Verify checks the digest at the end of a snapshot.
func Verify(snapshot []byte) error {
	end := len(snapshot) - sha256.Size
	if end <= 0 || end%page != 0 {
		return errors.New("the snapshot of etcd is truncated, or has no digest")
	}
	digest := sha256.Sum256(snapshot[:end])
	if !bytes.Equal(digest[:], snapshot[end:]) {
		return errors.New("the snapshot of etcd was changed: its digest differs")
	}
	return nil
}
