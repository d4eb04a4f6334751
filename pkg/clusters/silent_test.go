package clusters_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// A server that starts, or that has too much to do, answers with an error and answers better a moment later.
func TestAnsweredAndRejects(t *testing.T) {
	for name, row := range map[string]struct {
		err                error
		answered, rejected bool
	}{
		"unauthorized": {apierrors.NewUnauthorized("expired"), true, true},
		"forbidden":    {apierrors.NewForbidden(schema.GroupResource{}, "", nil), true, true},
		"certificate":  {fmt.Errorf("get: %w", x509.CertificateInvalidError{}), true, true},
		"starting":     {apierrors.NewServiceUnavailable("starting"), true, false},
		"overloaded":   {apierrors.NewTooManyRequests("later", 1), true, false},
		"broken":       {apierrors.NewInternalError(errors.New("etcd")), true, false},
		"silent":       {errors.New("i/o timeout"), false, false},
	} {
		if a, r := clusters.Answered(row.err), clusters.Rejects(row.err); a != row.answered || r != row.rejected {
			t.Errorf("%s: answered %t, rejected %t", name, a, r)
		}
	}
}
