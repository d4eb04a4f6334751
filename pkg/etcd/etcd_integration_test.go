//go:build integration

package etcd_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/etcd"
)

// A snapshot of a real etcd, whose members are named, verifies. One that another authority signs is not
// read.
func TestSnapshot(t *testing.T) {
	ours := newAuthority(t)
	address := serve(t, ours)
	for name, tc := range map[string]struct {
		authority etcd.Authority
		most      int64
		wrong     string
	}{
		"well":                {ours, 1 << 30, ""},
		"another authority":   {newAuthority(t), 1 << 30, "certificate"},
		"no authority":        {etcd.Authority{}, 1 << 30, "authority"},
		"larger than allowed": {ours, 1 << 10, "larger than 0 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			err := snapshotOf(t, address, tc.authority, tc.most)
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("%v", err)
			}
		})
	}
}

func snapshotOf(t *testing.T, address string, a etcd.Authority, most int64) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	client, err := etcd.Connect(ctx, a, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	})
	if err != nil {
		return err
	}
	defer client.Close()
	members, err := client.Members(ctx)
	if err != nil {
		return err
	}
	if len(members) != 1 || members[0].Name != "one" || members[0].ID == 0 || len(members[0].PeerURLs) != 1 {
		t.Errorf("members %+v", members)
	}
	s, err := client.Snapshot(ctx, most)
	if err == nil && (!strings.HasPrefix(s.Version, "3.") || len(s.Data) == 0) {
		t.Errorf("a snapshot of version %q with %d bytes", s.Version, len(s.Data))
	}
	return err
}
