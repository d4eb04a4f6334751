package clusters

import (
	"crypto/x509"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Answered reports whether a server did answer, and refused: its credentials and certificates do not get valid by
// themselves, so running the same command again does not help.
func Answered(err error) bool {
	_, status := errors.AsType[*apierrors.StatusError](err)
	_, certificate := errors.AsType[x509.CertificateInvalidError](err)
	return status || certificate
}

// AnswerHint says how to make a silent management cluster answer, by the cause of its silence; otherwise by default.
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
