package workload

import (
	"context"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// findAddress returns the environment with the address that was made for its API server, and reports an address that
// the cluster can lose.
func (c Cluster) findAddress(ctx context.Context, applied *environment.Environment, report pipeline.Reporter) (
	*environment.Environment, error) {
	found, err := provider.WithAddress(ctx, c.Provider, applied, report)
	if err != nil {
		return nil, err
	}
	if warning := found.AddressWarning(); warning != "" {
		report.Warn("%s", warning)
	}
	return found, nil
}

// deleteAddress deletes the address that Apply made for the API server: no controller does. It needs the stored values,
// which say where it is; without them checkGone reports what is not checked.
func (d Deletion) deleteAddress(ctx context.Context, report pipeline.Reporter) error {
	from, notStored := d.storedProvider(ctx)
	maker, is := from.(provider.AddressMaker)
	if notStored != nil || !is {
		return nil
	}
	deleted, err := maker.DeleteAddress(ctx)
	if len(deleted) > 0 {
		report.Progress("deleted the address of the API server: %s", strings.Join(deleted, ", "))
	}
	if err != nil {
		return fmt.Errorf("delete the address of the API server of %s: %w", d.Key, err)
	}
	return nil
}
