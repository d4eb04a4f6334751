package manifests

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// releases serves a Pod for each release file, but for those that end in a text.
type releases struct{ lost []string }

func (r releases) Fetch(_ context.Context, url string) ([]byte, error) {
	if slices.ContainsFunc(r.lost, func(lost string) bool { return strings.HasSuffix(url, lost) }) {
		return nil, oci.Unreadable(errors.New("fetch " + url + ": lost"))
	}
	name := strings.TrimSuffix(path.Base(url), ".yaml")
	return []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
		", namespace: x}\nspec: {containers: [{name: c, image: registry.example/" + name + ":v1}]}\n"), nil
}

// What one release file lacks keeps no other image from being known.
func TestKnownImages(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	options := content.PublishOptions{}
	if options.Paths, err = env.ComponentPaths(); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for _, folder := range options.Paths {
		name := strings.ReplaceAll(strings.TrimPrefix(folder, "./kustomize-components/"), "/", "-")
		files[strings.TrimPrefix(folder, "./")+"/kustomization.yaml"] = &fstest.MapFile{Data: []byte(
			"resources: [https://example.org/" + name + ".yaml]\n")}
	}
	options.FS, options.Fetch = files, releases{lost: []string{"/capi.yaml", "/cert-manager.yaml", flux.ManifestsURL}}
	images, notes, err := KnownImages(t.Context(), env, options)
	for _, want := range []string{"registry.example/capd:v1", "registry.example/cni-calico:v1"} {
		if !slices.Contains(images, want) {
			t.Errorf("%s is not known: %v", want, images)
		}
	}
	problems := fault.Problems(err)
	if len(problems) != 3 || len(notes) != 0 {
		t.Fatalf("problems %q, notes %q", problems, notes)
	}
	for i, want := range []string{"Flux's manifests", "/cert-manager", "/capi"} {
		found := slices.ContainsFunc(problems, func(err error) bool {
			return strings.Contains(err.Error(), want) && fault.CodeOf(err) == fault.SourceUnreadable &&
				fault.HintOf(err) != ""
		})
		if !found {
			t.Errorf("%d: %q is not among %q", i, want, problems)
		}
	}
}
