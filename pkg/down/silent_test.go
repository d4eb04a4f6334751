package down

import (
	"crypto/x509"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// A silent API server may answer the next run. One that refuses, or that has no kubeconfig, does not. Each case has a
// hint.
func TestASilentManagementClusterIsRetryable(t *testing.T) {
	const remove = "cluster-init cleanup env --yes --force demo."
	const recovers = "cluster-init kubeconfig env --recover."
	verified := side{state: "active", verified: true}
	for name, tc := range map[string]struct {
		bootstrap, management string
		edit                  func(*clusters.Observation)
		retry                 bool
		hint, lacks           []string
	}{
		"silent": {"absent", "silent", func(*clusters.Observation) {}, true,
			[]string{"Wait a few minutes", "Its kubeconfig is /state/kubeconfig.", remove}, nil},
		"silent in a move": {"paused", "silent", func(*clusters.Observation) {}, true,
			[]string{"Wait a few minutes", remove}, nil},
		"silent since this run began": {"absent", "silent", func(o *clusters.Observation) { o.Management.Answered = true },
			true,
			[]string{"Wait a few minutes"}, []string{"cleanup"}},
		"its machine is paused": {"absent", "silent", func(o *clusters.Observation) { o.Machines[0].Paused = true }, true,
			[]string{"docker unpause demo-1"}, []string{"Wait"}},
		"its credentials are refused": {"absent", "silent",
			func(o *clusters.Observation) { o.Management.Err = apierrors.NewUnauthorized("ended") }, false,
			[]string{"--kubeconfig FILE", recovers, remove}, []string{"Wait"}},
		"its certificate has ended": {"absent", "silent", func(o *clusters.Observation) {
			o.Management.Err = x509.CertificateInvalidError{Reason: x509.Expired}
		}, false, []string{"kubeadm certs renew apiserver", remove}, []string{"Wait"}},
		"no kubeconfig names it": {"verified", "absent", func(*clusters.Observation) {}, false,
			[]string{"--kubeconfig FILE", recovers, remove}, []string{"Wait"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := side{state: tc.bootstrap}
			if tc.bootstrap == "verified" {
				b = verified
			}
			o := seen(b, side{state: tc.management}, []provider.Machine{{Name: "demo-1"}}, nil)
			tc.edit(&o)
			v := judge(o, request{environment: "env", cluster: "demo", namespace: "ns", place: "Docker"})
			if fault.CodeOf(v.refusal) != fault.ClusterUnreachable || fault.CanRetry(v.refusal) != tc.retry {
				t.Fatalf("%v: retryable %t, want %t", v.refusal, fault.CanRetry(v.refusal), tc.retry)
			}
			hint := fault.HintOf(v.refusal)
			for _, want := range tc.hint {
				if !strings.Contains(hint, want) {
					t.Errorf("the hint does not say %q: %s", want, hint)
				}
			}
			for _, not := range tc.lacks {
				if strings.Contains(hint, not) {
					t.Errorf("the hint says %q: %s", not, hint)
				}
			}
		})
	}
}
