package registries

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestOnlyARegistryAnswersLikeOne(t *testing.T) {
	for status, want := range map[int]bool{200: true, 401: true, 429: true, 403: false, 404: false, 407: false,
		503: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet { // the specification names no other
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			w.WriteHeader(status)
		}))
		if got := answer(t.Context(), server.URL+"/v2/"); got != want {
			t.Errorf("%d counts as an answer: %v", status, got)
		}
		server.Close()
	}
}
