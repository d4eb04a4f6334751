package bootstrap

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// engineer is an engine that answers, or fails with these errors.
type engineer struct{ silent, forgets error }

func (e engineer) AskEngine(context.Context) (docker.Info, error) { return goodEngine(), e.silent }
func (e engineer) ReachedAt() string                              { return "" }
func (e engineer) BootstrapExists(context.Context) (bool, error)  { return false, e.forgets }

// lacking is a cloud that lacks something.
type lacking struct{ provider.Provider }

func (lacking) Preflight(context.Context, provider.Reporter) error { return errors.New("no flavor") }

type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no network")
}

// releasedBy has a component folder for each of an environment, with a release file in it, and all URLs.
func releasedBy(t *testing.T) (*environment.Environment, fs.FS, []string) {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := env.ComponentPaths()
	if err != nil {
		t.Fatal(err)
	}
	files, urls := fstest.MapFS{}, []string{flux.ManifestsURL}
	for _, path := range paths {
		url := "https://example.org/" + strings.TrimPrefix(path, "./") + ".yaml"
		files[strings.TrimPrefix(path, "./")+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte(
			"resources: [" + url + "]\n")}
		urls = append(urls, url)
	}
	return env, files, urls
}

// All that is wrong is said at once: an engine that is silent ends no other check, and neither does a release file that
// cannot be fetched.
func TestPreflightGoesOn(t *testing.T) {
	env, files, urls := releasedBy(t)
	everything := append([]string{"no flavor"}, urls...)
	for name, tc := range map[string]struct {
		world engineer
		taken bool
		want  []string
	}{
		"a good engine": {engineer{}, false, everything},
		"a silent engine": {engineer{silent: errors.New("no engine")}, true,
			append([]string{"no engine"}, everything...)},
		"an engine that does not list": {engineer{forgets: errors.New("no list")}, true,
			append([]string{"no list"}, everything...)},
		"a port that another process took": {engineer{}, true, append([]string{"port 6443"}, everything...)},
	} {
		t.Run(name, func(t *testing.T) {
			h := goodHost()
			if tc.taken {
				h.listen = func(int32) error { return errors.New("address already in use") }
			}
			p := Preflight{World: tc.world, Provider: lacking{}, host: h,
				Wanted: Wanted{Environment: env,
					Supplies: Supplies{Content: files, Source: source.Source{Kind: source.Embedded},
						APIServerPort: 6443,
						Manifests:     &content.HTTPFetcher{Client: &http.Client{Transport: noNetwork{}}}}}}
			err := p.Run(t.Context(), &pipeline.Notes{})
			joined, several := err.(interface{ Unwrap() []error })
			if !several {
				t.Fatalf("got %v", err)
			}
			text := err.Error()
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said:\n%s", want, text)
				}
			}
			if got := strings.Count(text, "\n") + 1; got != len(tc.want) {
				t.Errorf("%d problems in %d parts, want %d:\n%s", got, len(joined.Unwrap()), len(tc.want), text)
			}
		})
	}
}

// endingNetwork interrupts the run while the first file is fetched.
type endingNetwork struct{ end func() }

func (n endingNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.end()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// An interrupted run reports that once, and not for each missing file.
func TestPreflightThatIsInterrupted(t *testing.T) {
	env, files, _ := releasedBy(t)
	ctx, end := context.WithCancelCause(t.Context())
	network := endingNetwork{func() { end(errors.New("Ctrl-C")) }}
	p := Preflight{World: engineer{}, host: goodHost(),
		Wanted: Wanted{Environment: env,
			Supplies: Supplies{Content: files, Source: source.Source{Kind: source.Embedded},
				Manifests: &content.HTTPFetcher{Client: &http.Client{Transport: network}}}}}
	if err := p.Run(ctx, &pipeline.Notes{}); err == nil || err.Error() != "fetch the release files: Ctrl-C" {
		t.Errorf("%v", err)
	}
}
