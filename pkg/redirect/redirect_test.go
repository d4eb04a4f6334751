package redirect_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/redirect"
)

func TestCredentialsStayAtTheirHost(t *testing.T) {
	var got []string // the credentials that arrived where the redirect leads
	end := func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, r.Header.Get("Authorization")+r.Header.Get("X-Auth-Token")+string(body))
	}
	plain, secure := httptest.NewServer(http.HandlerFunc(end)), httptest.NewTLSServer(http.HandlerFunc(end))
	defer plain.Close()
	defer secure.Close()
	var to string
	first := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/end" {
			end(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	for name, tc := range map[string]struct {
		to      string
		check   func(*http.Request, []*http.Request) error
		arrives string // "none": nothing does
		err     string
	}{
		"the same host":                  {first.URL + "/end", redirect.WithoutCredentials, "Basic x", ""},
		"another host":                   {secure.URL, redirect.WithoutCredentials, "", ""},
		"no TLS":                         {plain.URL, redirect.WithoutCredentials, "none", "without TLS"},
		"a body to the same host":        {first.URL + "/end", redirect.SameHost, "Basic xpassword", ""},
		"a body to another host":         {secure.URL, redirect.SameHost, "none", "another host"},
		"a body to the same without TLS": {plain.URL, redirect.SameHost, "none", "without TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			to, got = tc.to, nil
			client := http.Client{Transport: first.Client().Transport, CheckRedirect: tc.check}
			var body io.Reader
			if strings.HasPrefix(name, "a body") {
				body = strings.NewReader("password")
			}
			req, err := http.NewRequest(http.MethodPost, first.URL, body)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Basic x")
			resp, err := client.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("%v, want %q", err, tc.err)
			}
			arrived := strings.Join(got, "|")
			if len(got) == 0 {
				arrived = "none"
			}
			if arrived != tc.arrives {
				t.Errorf("%q arrived, want %q", arrived, tc.arrives)
			}
		})
	}
}

func TestNoCredentialsWithoutTLS(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	client := http.Client{Transport: redirect.OverTLS{RoundTripper: http.DefaultTransport}}
	for _, header := range []string{"", "Basic x"} {
		req, err := http.NewRequest(http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		resp, err := client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		if (err != nil) != (header != "") {
			t.Errorf("%q: %v", header, err)
		}
	}
}

// The address comes from the server that redirects: a token in it does not belong in a log.
func TestTheErrorOfARedirectNamesTheHostAlone(t *testing.T) {
	from := httptest.NewRequest(http.MethodGet, "https://host/", nil)
	to := httptest.NewRequest(http.MethodGet, "http://s3cret@other/?token=s3cret", nil)
	for _, check := range []func(*http.Request, []*http.Request) error{redirect.WithoutCredentials,
		redirect.SameHost} {
		if err := check(to, []*http.Request{from}); err == nil || err.Error() != "redirected to other, without TLS" {
			t.Errorf("%v", err)
		}
	}
}
