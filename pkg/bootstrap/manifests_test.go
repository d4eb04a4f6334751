package bootstrap

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// answers is a network on which each URL has one answer; others are a captive portal's.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, found := a[r.URL.String()]
	if !found {
		body = "<html>Please sign in</html>"
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// Preflight refuses what is no release file before anything is made, and warns once of what no digest vouches for.
func TestReleaseFilesAreVerifiedBeforeAnythingIsMade(t *testing.T) {
	const component = "https://example.org/v1/components.yaml"
	const manifest = "apiVersion: v1\nkind: Namespace\n"
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	paths, err := env.ComponentPaths()
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, path := range paths {
		files[strings.TrimPrefix(path, "./")+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte("resources: []\n")}
	}
	files[strings.TrimPrefix(paths[0], "./")+"/kustomization.yaml"].Data = []byte("resources: [" + component + "]\n")
	all := content.Sums{component: content.Sum([]byte(manifest)), flux.ManifestsURL: content.Sum([]byte("archive"))}
	for _, tc := range []struct {
		name    string
		source  source.Kind
		network answers
		sums    content.Sums
		bundle  *bundle.Bundle
		code    fault.Code
		says    string // of the error
		warning string // the end of the only one; empty: none
		kept    int    // files in the cache
	}{
		{"all pinned", source.Embedded, answers{component: manifest, flux.ManifestsURL: "archive"}, all, nil, "", "",
			"", 2},
		{"Flux not pinned", source.Git, answers{flux.ManifestsURL: "archive"}, nil, nil, fault.SourceUnreadable, "gzip",
			flux.ManifestsURL, 0},
		{"component not pinned", source.Embedded, answers{component: manifest, flux.ManifestsURL: "archive"},
			content.Sums{flux.ManifestsURL: all[flux.ManifestsURL]}, nil, "", "",
			"1 of 2 release files are not pinned by a digest, so a change would not be detected: " + component, 2},
		{"portal", source.Embedded, answers{}, nil, nil, fault.SourceUnreadable, "web page",
			"2 of 2 release files are not pinned by a digest, so a change would not be detected: " +
				flux.ManifestsURL + ", " + component, 0},
		{"portal, all pinned", source.Embedded, answers{}, all, nil, fault.SourceUnreadable, "web page", "", 0},
		{"portal in place of one", source.Embedded, answers{flux.ManifestsURL: "archive"}, all, nil,
			fault.SourceUnreadable, component, "", 1},
		{"changed release", source.Embedded, answers{component: manifest + "x: y\n", flux.ManifestsURL: "archive"}, all,
			nil, fault.SourceUnreadable, "digest", "", 1},
		{"bundle without the files", source.Embedded, answers{}, nil, &bundle.Bundle{}, fault.BundleInvalid, component,
			"", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cache := t.TempDir()
			u := Preflight{Wanted: Wanted{Environment: env,
				Supplies: Supplies{Content: files, Source: source.Source{Kind: tc.source}, Bundle: tc.bundle,
					Manifests: &content.HTTPFetcher{Sums: tc.sums, Client: &http.Client{Transport: tc.network},
						CacheDir: cache}}}}
			if tc.bundle != nil {
				u.Manifests = tc.bundle
			}
			var heard event.Recorder
			runner := pipeline.Runner{Sink: &heard, Now: time.Now}
			err := runner.Run(t.Context(), []pipeline.Phase{{Name: "preflight", Run: u.fetchable}})
			if fault.CodeOf(err) != tc.code || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%q is no %s that says %q", err, tc.code, tc.says)
			}
			var warnings []string
			for _, e := range heard.Events() {
				if e.Type == event.Warning {
					warnings = append(warnings, e.Message)
				}
			}
			if tc.warning == "" && len(warnings) > 0 || tc.warning != "" &&
				(len(warnings) != 1 || !strings.HasSuffix(warnings[0], tc.warning)) {
				t.Errorf("warned %q, want %q", warnings, tc.warning)
			}
			if kept, err := os.ReadDir(cache); err != nil || len(kept) != tc.kept {
				t.Errorf("kept %v (%v), want %d", kept, err, tc.kept)
			}
		})
	}
}
