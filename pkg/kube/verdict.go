package kube

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IsVerdict reports whether an error is the API server's verdict on an object, and not on its own state. The server
// reports a webhook that does not answer as an internal error.
func IsVerdict(err error) bool {
	var status apierrors.APIStatus
	switch {
	case !errors.As(err, &status):
		return false
	case apierrors.IsInternalError(err):
		return strings.Contains(err.Error(), "webhook")
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTooManyRequests(err) && !apierrors.IsUnauthorized(err)
}
