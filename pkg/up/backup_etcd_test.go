package up

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/etcd"
)

// A backup leaves out the member of a machine that is still joining: it has no name, or does not vote.
func TestMembersOfASnapshot(t *testing.T) {
	at := func(name string, urls ...string) etcd.Member { return etcd.Member{Name: name, PeerURLs: urls} }
	a := at("cp-a", "https://10.0.0.4:2380")
	learner := at("cp-b", "https://10.0.0.5:2380")
	learner.Learner = true
	one := []backup.EtcdMember{{Name: "cp-a", Address: "10.0.0.4"}}
	for name, tc := range map[string]struct {
		members []etcd.Member
		want    []backup.EtcdMember // nil: it is refused
	}{
		"one": {[]etcd.Member{a}, one},
		"two": {[]etcd.Member{a, at("cp-b", "https://[fd00::5]:2380")},
			append(one[:1:1], backup.EtcdMember{Name: "cp-b", Address: "fd00::5"})},
		"one that has not started": {[]etcd.Member{a, at("", "https://10.0.0.5:2380")}, one},
		"one that only receives":   {[]etcd.Member{learner, a}, one},
		"two addresses of one": {[]etcd.Member{at("cp-a", "https://10.0.0.4:2380", "https://10.0.0.5:2380")},
			nil},
		"an address that cannot be read": {[]etcd.Member{at("cp-a", "https://10.0.0.4:a")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := describe(tc.members)
			if tc.want == nil {
				if err == nil {
					t.Errorf("it is %+v, want a refusal", got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Members); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
