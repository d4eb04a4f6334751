package lock

import (
	"context"
	"path/filepath"
)

// UnderNetwork runs work that creates the Docker network of all clusters or depends on the order of addresses in it. It
// waits for, and excludes, such work of all other runs of this user, whatever their cluster.
func UnderNetwork(ctx context.Context, stateFolder string, work func() error) error {
	held, err := Await(ctx, filepath.Join(filepath.Dir(stateFolder), ".network.lock"), Holder{})
	if err != nil {
		return err
	}
	defer held.Release() // an error leaves an unlocked file, which the next run takes over
	return work()
}
