package source

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/distribution"
	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// quiet swallows a test server's complaints about clients that leave.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// checkUnreadable fails unless err is a fault SourceUnreadable with these parts.
func checkUnreadable(t *testing.T, err error, message, hint string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if fault.CodeOf(err) != fault.SourceUnreadable {
		t.Errorf("code %q, want %q", fault.CodeOf(err), fault.SourceUnreadable)
	}
	if !strings.Contains(err.Error(), message) {
		t.Errorf("error %q lacks %q", err, message)
	}
	if !strings.Contains(fault.HintOf(err), hint) || fault.HintOf(err) == "" {
		t.Errorf("hint %q lacks %q", fault.HintOf(err), hint)
	}
}

// gitServer serves a real repository with one branch and one tag through git's own HTTP backend; user and password
// are "me" and "token".
func gitServer(t *testing.T) *httptest.Server {
	t.Helper()
	root := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+root)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet", "--initial-branch=main", "work")
	git("-C", "work", "commit", "--quiet", "--allow-empty", "-m", "one")
	git("-C", "work", "tag", "-a", "v1", "-m", "v1")
	git("clone", "--quiet", "--bare", "work", "repo.git")
	backend := &cgi.Handler{
		Path:   filepath.Join(git("--exec-path"), "git-http-backend"),
		Env:    []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1"},
		Stderr: io.Discard,
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "token" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if strings.HasPrefix(r.URL.Path, "/login/") {
			io.WriteString(w, "<html>please log in</html>")
			return
		}
		backend.ServeHTTP(w, r)
	}))
	server.Config.ErrorLog = quiet()
	t.Cleanup(server.Close)
	return server
}

func TestVerifyGitSource(t *testing.T) {
	prerequisite.Program(t, "git")
	server := gitServer(t)
	trusted := server.Client().Transport
	cases := []struct {
		name       string
		path       string
		edit       func(*Source)
		via        http.RoundTripper
		want, hint string // empty want: readable
	}{
		{name: "readable", path: "/repo.git"},
		{name: "branch", path: "/repo.git", edit: func(s *Source) { s.Git.Branch = "main" }},
		{name: "no such branch", path: "/repo.git", edit: func(s *Source) { s.Git.Branch = "mai" },
			want: "no branch mai", hint: "Check"},
		{name: "tag", path: "/repo.git", edit: func(s *Source) { s.Git.Tag = "v1" }},
		{name: "no such tag", path: "/repo.git", edit: func(s *Source) { s.Git.Tag = "v2" }, want: "no tag v2",
			hint: "Check"},
		{name: "a range", path: "/repo.git", edit: func(s *Source) { s.Git.SemVer = ">=1.0.0 <2.0.0" }},
		{name: "nothing in the range", path: "/repo.git", edit: func(s *Source) { s.Git.SemVer = "^2.0.0" },
			want: "no tag in the range ^2.0.0", hint: "Check"},
		{name: "wrong token", path: "/repo.git", edit: func(s *Source) { s.Password = "s3cret" }, want: "401",
			hint: "GITLAB_TOKEN"},
		{name: "no repository", path: "/none.git", want: "404", hint: "Check the address"},
		{name: "login page", path: "/login/repo.git", want: "not that of a git server", hint: "git clone"},
		{name: "untrusted", path: "/repo.git", via: http.DefaultTransport, want: "certificate", hint: "trust store"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := Source{Kind: Git, Git: flux.GitSource{URL: server.URL + tc.path}, Username: "me", Password: "token"}
			if tc.edit != nil {
				tc.edit(&s)
			}
			via := trusted
			if tc.via != nil {
				via = tc.via
			}
			err := s.verify(context.Background(), via)
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			checkUnreadable(t, err, tc.want, tc.hint)
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %q shows the password", err)
			}
		})
	}
}

func TestVerifyOCISource(t *testing.T) {
	r := distribution.Start(t)
	target := oci.Target{Prefix: r.Host, Insecure: true, Options: []remote.Option{remote.WithAuth(authn.Anonymous)}}
	img, err := random.Image(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := target.Repository("some/content")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(repo.Tag("v1"), img, target.Options...); err != nil {
		t.Fatal(err)
	}
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(locked.Close)
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = quiet()
	t.Cleanup(untrusted.Close)
	lockedHost := strings.TrimPrefix(locked.URL, "http://")
	untrustedHost := strings.TrimPrefix(untrusted.URL, "https://")

	cases := []struct {
		name       string
		artifact   flux.OCIArtifact
		want, hint string
	}{
		{"tag", flux.OCIArtifact{URL: "oci://" + r.Host + "/some/content", Tag: "v1", Insecure: true}, "", ""},
		{"no such tag", flux.OCIArtifact{URL: "oci://" + r.Host + "/some/content", Tag: "v2", Insecure: true}, "v2",
			"tag or version"},
		{"no repository", flux.OCIArtifact{URL: "oci://" + r.Host + "/none", Tag: "v1", Insecure: true}, "none",
			"Check the address"},
		{"locked", flux.OCIArtifact{URL: "oci://" + lockedHost + "/x", Tag: "v1", Insecure: true}, "401",
			"docker login"},
		{"untrusted", flux.OCIArtifact{URL: "oci://" + untrustedHost + "/x", Tag: "v1"}, "certificate", "trust store"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			readable := flux.OCIArtifact{URL: "oci://" + r.Host + "/some/content", Tag: "v1", Insecure: true}
			for _, s := range []Source{{Content: tc.artifact, Chart: readable},
				{Content: readable, Chart: tc.artifact}} {
				s.Kind = OCI
				err := s.Verify(context.Background(), content.Proxies{})
				if tc.want == "" {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				checkUnreadable(t, err, tc.want, tc.hint)
			}
		})
	}
}
