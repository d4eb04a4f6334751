package restore_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/restore"
)

// checkSuspended verifies what a restore reports of suspended releases.
func checkSuspended(t *testing.T, got []restore.Suspended, none bool) {
	t.Helper()
	if none {
		if len(got) > 0 {
			t.Errorf("suspended: %+v", got)
		}
		return
	}
	const resume = "flux resume source oci -n team-a shop-chart --kubeconfig /tmp/target.kubeconfig && " +
		"flux resume helmrelease -n team-a shop --kubeconfig /tmp/target.kubeconfig"
	if len(got) != 1 || got[0].Release.String() != "HelmRelease team-a/shop" || len(got[0].Sources) != 1 ||
		got[0].Sources[0].Object.String() != "OCIRepository team-a/shop-chart" ||
		got[0].Sources[0].URL != "oci://registry.example/x" || got[0].Resume != resume {
		t.Errorf("suspended: %+v", got)
	}
}

// A person reads the URL on the target, without the password in it, and resumes only what is suspended.
func TestWhatToReadBeforeAReleaseIsResumed(t *testing.T) {
	r := newWorkloads(t)
	_, err := restore.Run(t.Context(), r.Input)
	must(t, err)
	must(t, r.Target.Client.Patch(t.Context(), shopRelease()[1], client.RawPatch("application/merge-patch+json",
		[]byte(`{"spec":{"suspend":false,"url":"oci://me:hunter2@other.example/x"}}`))))
	r.Target.Kubeconfig = "/tmp/my file"
	again, err := restore.Run(t.Context(), r.Input)
	must(t, err)
	if len(again.Suspended) != 1 || again.Suspended[0].Resume != "flux resume helmrelease -n team-a shop --kubeconfig "+
		"'/tmp/my file'" {
		t.Fatalf("%+v", again.Suspended)
	}
	if url := again.Suspended[0].Sources[0].URL; strings.Contains(url, "hunter2") || !strings.Contains(url,
		"@other.example/x") {
		t.Errorf("url %s", url)
	}
}
