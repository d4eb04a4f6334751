package openstack_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/internal/standin"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// The password is in the body of the login, which a redirect would repeat.
func TestALoginIsRedirectedToNoOtherHost(t *testing.T) {
	var arrived atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	defer other.Close()
	s := standin.New(t, func(http.Handler) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}))
	})
	if _, err := openstack.Connect(t.Context(), s.Credentials(t)); err == nil || arrived.Load() > 0 {
		t.Errorf("%d requests arrived at another host, %v", arrived.Load(), err)
	}
}
