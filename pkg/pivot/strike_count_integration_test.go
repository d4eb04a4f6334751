//go:build integration

package pivot_test

import (
	"net/http"
	"testing"
)

// Only what changes a cluster is a point at which the harness injects a fault: dry runs and reviews are questions.
func TestOnlyWritesAreStruck(t *testing.T) {
	const clusters = "/apis/cluster.x-k8s.io/v1beta2/namespaces/a/clusters"
	for _, c := range []struct {
		method, url string
		writes      int64
	}{
		{http.MethodGet, clusters, 0},
		{http.MethodPost, clusters + "?dryRun=All", 0},
		{http.MethodPatch, clusters + "/demo?dryRun=All&fieldManager=x", 0},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 0},
		{http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", 0},
		{http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", 0},
		{http.MethodPost, clusters, 1},
		{http.MethodPatch, clusters + "/demo?fieldManager=x", 1},
		{http.MethodPut, clusters + "/demo/status", 1},
		{http.MethodDelete, clusters + "/demo", 1},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, "https://192.0.2.1"+c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &striker{at: strike{What: replyLost, Write: 1}}
		response, err := connection{&struckSide{striker: s}, allIsWell{}}.RoundTrip(r)
		if err == nil {
			_ = response.Body.Close()
		}
		if wrote := s.writes.Load(); wrote != c.writes || (err != nil) != (c.writes == 1) {
			t.Errorf("%s %s: %d writes, want %d; %v", c.method, c.url, wrote, c.writes, err)
		}
	}
}

// allIsWell is an API server that accepts everything.
type allIsWell struct{}

func (allIsWell) RoundTrip(r *http.Request) (*http.Response, error) {
	return answer(r, http.StatusOK, given{[]byte("{}"), "application/json"}), nil
}
