package up

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// The management cluster does not answer, and this run finds no machine: the machines may be where another run looked.
// Only the local evidence of earlier runs can show that there was no pivot.
func TestASilentManagementClusterWithoutMachines(t *testing.T) {
	unreadable := errors.New("permission denied")
	for name, tc := range map[string]struct {
		traces  clusters.LocalEvidence
		unknown bool   // it is refused
		says    string // in the refusal
	}{
		"its kubeconfig is all that there is":       {clusters.LocalEvidence{}, true, "nothing but its kubeconfig names it"},
		"a run made a bootstrap cluster, no backup": {clusters.LocalEvidence{Building: true}, false, ""},
		"a backup": {clusters.LocalEvidence{Backup: "/state/demo-1"}, true,
			"there is a backup of its definition (/state/demo-1)"},
		"a backup, and a new bootstrap cluster": {clusters.LocalEvidence{Building: true, Backup: "/state/demo-1"}, true,
			"/state/demo-1"},
		"the state folder cannot be read": {clusters.LocalEvidence{Building: true, Err: unreadable}, true,
			"it is not known whether a pivot was made (permission denied)"},
	} {
		for b, otherwise := range map[clusters.BootstrapState]decision{clusters.BootstrapAbsent: fresh,
			clusters.BootstrapUnfinished: fresh, clusters.BootstrapEmpty: beforePivot} {
			o := seen(b, clusters.ManagementSilent)
			o.LocalEvidence, o.Management.Files = tc.traces, []string{"/mine", "/state/kube config"}
			v := judge(o, thisRun)
			if !tc.unknown {
				if v.decision != otherwise || !strings.Contains(v.warning, "/mine, /state/kube config") {
					t.Errorf("%s, bootstrap cluster %s: %s, want %s: %v\nwarning: %s", name, b, short(v), otherwise,
						v.refusal, v.warning)
				}
				continue
			}
			hint := fault.HintOf(v.refusal)
			if short(v) != "cluster/unreachable?" || !strings.Contains(fmt.Sprint(v.refusal), tc.says) ||
				!strings.Contains(hint, "rm '/mine' '/state/kube config'") ||
				!strings.Contains(hint, "cluster-init cleanup env") {
				t.Errorf("%s, bootstrap cluster %s: %s: %v\nhint: %s", name, b, short(v), v.refusal, hint)
			}
		}
	}
}

// A cluster that answers is not gone, whatever the local evidence is.
func TestAClusterThatRefusesIsNotGone(t *testing.T) {
	for name, err := range map[string]error{"credentials": apierrors.NewUnauthorized("Unauthorized"),
		"not ready": apierrors.NewServiceUnavailable("etcd"),
		"expired":   x509.CertificateInvalidError{Reason: x509.Expired}} {
		o := seen(clusters.BootstrapAbsent, clusters.ManagementSilent)
		o.LocalEvidence.Building, o.Management.Err = true, fmt.Errorf("ask the API server: %w", err)
		if v := judge(o, thisRun); short(v) != "cluster/unreachable?" || !strings.Contains(fmt.Sprint(v.refusal),
			"something answers at its address") {
			t.Errorf("%s: %s: %v", name, short(v), v.refusal)
		}
	}
}

// A cluster that answers and refuses is running, and its network is healthy. The remedy is another kubeconfig or
// another certificate.
func TestWhyAManagementClusterIsSilentSaysWhatHelps(t *testing.T) {
	asked := func(err error) error {
		return fault.Retryable(fmt.Errorf("asking the API server at https://192.0.2.1: %w", err),
			fault.ClusterUnreachable, "Is it running?")
	}
	const credentials, certificate, start = "Give a kubeconfig of it whose credentials are valid: --kubeconfig FILE",
		"Renew the certificate of its API server", "tart its machines"
	for name, tc := range map[string]struct {
		err  error
		says string
	}{
		"nobody answers":              {asked(errors.New("i/o timeout")), start},
		"the credentials are refused": {asked(apierrors.NewUnauthorized("Unauthorized")), credentials},
		"they may not ask": {asked(
			apierrors.NewForbidden(schema.GroupResource{Resource: "clusters"}, "", nil)), credentials},
		"by one of two kubeconfigs": {errors.Join(asked(errors.New("i/o timeout")),
			asked(apierrors.NewUnauthorized("Unauthorized"))), credentials},
		"its certificate has expired": {asked(
			&url.Error{Op: "Get", URL: "https://192.0.2.1", Err: x509.CertificateInvalidError{Reason: x509.Expired}}),
			certificate},
		"its API server is not ready": {asked(apierrors.NewServiceUnavailable("etcd")), start},
		"its certificate is for other names, say": {asked(x509.CertificateInvalidError{Reason: x509.NameMismatch}),
			start},
	} {
		for _, m := range []struct {
			b        clusters.BootstrapState
			machines []provider.Machine
		}{{clusters.BootstrapMoved, nil}, {clusters.BootstrapPaused, nil}, {clusters.BootstrapAbsent, nil},
			{clusters.BootstrapAbsent, []provider.Machine{{Name: "demo-abc"}}}} {
			o := seen(m.b, clusters.ManagementSilent, m.machines...)
			o.Management.Err = tc.err
			v := judge(o, thisRun)
			hint := fault.HintOf(v.refusal)
			for _, one := range []string{credentials, certificate, start} {
				if strings.Contains(hint, one) != (one == tc.says) {
					t.Errorf("%s, bootstrap cluster %s: %v\nhint: %s", name, m.b, v.refusal, hint)
				}
			}
		}
	}
}

// A run waits for an API server that has answered it before and is silent now. No hint suggests deleting a cluster that
// was there a moment ago.
func TestASilentManagementClusterIsWaitedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		answered bool
		err      error
		retry    bool
		cleanup  bool
	}{
		"it answered before":                     {true, errors.New("i/o timeout"), true, false},
		"it was never seen to":                   {false, errors.New("i/o timeout"), true, true},
		"it refuses the credentials, which last": {true, apierrors.NewUnauthorized("expired"), false, false},
	} {
		o := seen(clusters.BootstrapAbsent, clusters.ManagementSilent)
		o.Management.Answered, o.Management.Err, o.MachinesErr = tc.answered, tc.err, provider.ErrNotSupported
		v := judge(o, thisRun)
		hint := fault.HintOf(v.refusal)
		if v.decision != refuse || fault.CodeOf(v.refusal) != fault.ClusterUnreachable ||
			fault.CanRetry(v.refusal) != tc.retry || strings.Contains(hint, "cleanup") != tc.cleanup {
			t.Errorf("%s: %v, again %t\nhint: %s", name, v.refusal, fault.CanRetry(v.refusal), hint)
		}
		if tc.retry && !strings.Contains(hint, "run the same command again: it resumes") {
			t.Errorf("%s: hint: %s", name, hint)
		}
		if tc.answered && (strings.Contains(v.refusal.Error(), "nobody else") || strings.Contains(hint, "rm ")) {
			t.Errorf("%s: %v\nhint: %s", name, v.refusal, hint)
		}
	}
}
