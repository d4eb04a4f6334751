package content

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A caller that compares the digest itself gets programs, but not the web page of a portal.
func TestAnyForm(t *testing.T) {
	const path, program = "/v1/kubeadm", "\x7fELF\x00\x01"
	for _, tc := range []struct {
		name, body, want string // want: of the error; empty: passes
		limit            int64
	}{
		{name: "program", body: program},
		{name: "digest", body: Sum([]byte(program))},
		{name: "program of exactly the limit", body: program, limit: int64(len(program))},
		{name: "program that is too large", body: program, limit: int64(len(program)) - 1, want: "more than 5 bytes"},
		{name: "portal", body: portal, want: "web page"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, _ := fetchServer(t, func(_ int64, w http.ResponseWriter) { io.WriteString(w, tc.body) })
			f := &HTTPFetcher{Client: server.Client(), Backoff: time.Hour, AnyForm: true, Limit: tc.limit}
			data, err := f.Fetch(context.Background(), server.URL+path)
			if tc.want == "" {
				if err != nil || string(data) != tc.body {
					t.Errorf("got %q (%v)", data, err)
				}
				return
			}
			if len(data) != 0 || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("returned %q (%v), want an error with %q", data, err, tc.want)
			}
		})
	}
}
