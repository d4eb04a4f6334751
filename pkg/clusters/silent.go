package clusters

import (
	"crypto/x509"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Answered reports whether a server answered and refused. Its credentials and certificates do not become valid by
// themselves, so a retry does not help.
func Answered(err error) bool {
	_, status := errors.AsType[*apierrors.StatusError](err)
	_, certificate := errors.AsType[x509.CertificateInvalidError](err)
	return status || certificate
}

// AnswerHint returns the hint that makes a silent management cluster answer, by the cause of its silence. Without a
// known cause it returns otherwise.
func (o Observation) AnswerHint(environment, otherwise string) string {
	for _, m := range o.Machines {
		if m.Paused {
			return "Unpause it: docker unpause " + m.Name + ". Then run the same command again."
		}
	}
	if apierrors.IsUnauthorized(o.Management.Err) || apierrors.IsForbidden(o.Management.Err) {
		return "Give a kubeconfig of it whose credentials are valid: --kubeconfig FILE. Those of " +
			o.Management.Named +
			" are refused. " + RecoverHint(environment)
	}
	invalid, is := errors.AsType[x509.CertificateInvalidError](o.Management.Err)
	if is && invalid.Reason == x509.Expired {
		return "Renew the certificate of its API server on its control-plane machines (kubeadm certs renew apiserver, " +
			"or restart rke2-server), and run the same command again."
	}
	return otherwise
}
