package workload

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// leaves is a provider that lists machines, which go away after some lists.
type leaves struct {
	place
	lists *int
}

func (l leaves) Machines(context.Context) ([]provider.Machine, error) {
	if *l.lists--; *l.lists < 0 {
		return nil, l.err
	}
	return l.machines, l.err
}

// cloud is a provider with leftovers.
type cloud struct {
	place
	left leftovers
}

func (c cloud) Leftovers(context.Context) (provider.Leftovers, error) { return c.left, nil }

func cloudWith(found provider.Found) cloud { return cloud{left: leftovers{found: found}} }

type leftovers struct {
	provider.Leftovers
	found provider.Found
}

func (l leftovers) Look(context.Context) (provider.Found, error) { return l.found, nil }

// closed is a provider that cannot list anything.
type closed struct{ place }

func (closed) Find(cluster string) string { return "look for " + cluster }

// A deletion is proven by the infrastructure itself: that the Cluster is gone says only what its controllers believe.
func TestADeletionIsProven(t *testing.T) {
	machines := []provider.Machine{{Name: "shop-lb"}}
	for name, tc := range map[string]struct {
		provider    provider.Provider
		unstored    bool
		says, warns string
	}{
		"nothing is left":         {provider: leaves{lists: new(int)}},
		"a list is late":          {provider: leaves{place{machines: machines}, ptr.To(3)}},
		"a load balancer is left": {provider: leaves{place{machines: machines}, ptr.To(1000)}, says: "shop-lb"},
		"a container of another": {provider: leaves{place{err: fault.New(fault.ClusterForeign, "x is foreign", "")},
			ptr.To(0)}, says: "x is foreign"},
		"no answer": {provider: leaves{place{err: errors.New("no engine")}, ptr.To(0)},
			warns: "team-a/shop: no engine"},
		"not supported":    {provider: closed{}, warns: "list them with look for shop"},
		"no stored values": {provider: leaves{lists: new(int)}, unstored: true, warns: "its values are not stored"},
		"a server is left": {provider: cloudWith(provider.Found{Delete: []provider.Leftover{{Kind: "server",
			Name: "shop-1"}}}), says: "server shop-1"},
		"it cannot be deleted": {provider: cloudWith(provider.Found{Stays: []provider.Leftover{{Kind: "router",
			Name: "r"}}}), says: "router r"},
		"a kind without a list": {provider: cloudWith(provider.Found{Unknown: []provider.Unlisted{{Kind: "volume",
			Why: errors.New("forbidden")}}}), warns: "list volume: forbidden"},
		"nothing in the cloud": {provider: cloudWith(provider.Found{})},
	} {
		t.Run(name, func(t *testing.T) {
			builder := fake.NewClientBuilder()
			if !tc.unstored {
				builder.WithObjects(environment.WorkloadObjects("team-a", "shop").Values)
			}
			d := Deletion{Key: Key{"team-a", "shop"},
				Management: &kube.Cluster{Name: "management", Client: builder.Build()},
				Provider:   func(environment.Objects) (provider.Provider, error) { return tc.provider, nil }}
			synctest.Test(t, func(t *testing.T) {
				notes := &pipeline.Notes{}
				err := d.checkGone(t.Context(), notes)
				if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
					t.Errorf("error %v, want %q", err, tc.says)
				}
				got := strings.Join(notes.Warnings, "\n")
				if (got == "") != (tc.warns == "") || !strings.Contains(got, tc.warns) {
					t.Errorf("warned %q, want %q", got, tc.warns)
				}
			})
		})
	}
}
