package down

import (
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/cleanup"
)

// Whenever the cleanup is interrupted, the next run has the record of the teardown in the bootstrap cluster, or the
// files are gone too.
func TestTheBootstrapClusterIsSweptLast(t *testing.T) {
	var plan cleanup.Plan
	all := []cleanup.Kind{cleanup.BootstrapNode, cleanup.Machine, cleanup.Registry, cleanup.Volume, cleanup.Image,
		cleanup.Network, cleanup.File, "server"}
	for _, kind := range all {
		plan.Delete = append(plan.Delete, cleanup.Item{Kind: kind})
	}
	var got []cleanup.Kind
	for _, part := range inOrder(plan) {
		for _, item := range part.Delete {
			got = append(got, item.Kind)
		}
	}
	want := []cleanup.Kind{cleanup.Machine, cleanup.Registry, cleanup.Volume, cleanup.Image, "server", cleanup.File,
		cleanup.BootstrapNode, cleanup.Network}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
