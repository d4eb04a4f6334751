package up

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Local evidence of earlier runs counts only while a named cluster does not answer. Without a kubeconfig and without
// machines nothing exists that could be harmed.
func TestTracesOfAClusterThatNobodyNames(t *testing.T) {
	for name, traces := range map[string]clusters.LocalEvidence{
		"a backup":                      {Backup: "/state/demo-1"},
		"a backup, a bootstrap cluster": {Building: true, Backup: "/state/demo-1"},
		"a bootstrap cluster":           {Building: true},
		"nothing":                       {},
		"an unreadable state folder":    {Err: errors.New("permission denied")},
	} {
		for b, want := range map[clusters.BootstrapState]decision{clusters.BootstrapAbsent: fresh,
			clusters.BootstrapEmpty: beforePivot} {
			o := seen(b, clusters.ManagementAbsent)
			o.LocalEvidence = traces
			if v := judge(o, thisRun); v.decision != want || v.warning != "" {
				t.Errorf("%s, bootstrap cluster %s: %s, want %s: %v\nwarning: %s", name, b, short(v), want, v.refusal,
					v.warning)
			}
		}
	}
}

// A person must see whether a teardown has begun to delete: it can be cancelled only before that.
func TestATeardownThatHasDeletedNothingYet(t *testing.T) {
	for deleting, says := range map[bool]string{false: "is being taken down", true: "is being deleted"} {
		o := seen(clusters.BootstrapActive, clusters.ManagementSilent)
		o.Bootstrap.TeardownRequested, o.Bootstrap.Holds.Clusters[0].Deleting = true, deleting
		if v := judge(o, thisRun); !strings.Contains(fmt.Sprint(v.refusal), says) {
			t.Errorf("deleting %t: %v", deleting, v.refusal)
		}
	}
}
