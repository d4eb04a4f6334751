package clusters

import (
	"crypto/x509"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Answered reports whether the error is an answer: there is a server at the address.
func Answered(err error) bool {
	_, status := errors.AsType[*apierrors.StatusError](err)
	return status || isInvalidCertificate(err)
}

// Rejects reports whether a server rejects the credentials, or has an invalid certificate. Neither becomes valid by
// itself, so a retry does not help. An overloaded server, or one that starts, rejects nothing.
func Rejects(err error) bool {
	return apierrors.IsUnauthorized(err) || apierrors.IsForbidden(err) || isInvalidCertificate(err)
}

func isInvalidCertificate(err error) bool {
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return invalid
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
