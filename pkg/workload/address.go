package workload

import (
	"context"
	"fmt"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

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
