package content

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	fluxoci "github.com/fluxcd/pkg/oci"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/crane"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/registry"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/distribution"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// target is the registry without any of the machine's credentials.
func target(r *distribution.Registry) oci.Target {
	return oci.Target{Prefix: r.Host, Insecure: true, Options: []remote.Option{remote.WithAuth(authn.Anonymous)}}
}

// testContent is a small but whole content tree.
func testContent() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		"kustomize-components/a/kustomization.yaml": file("resources:\n- https://example.org/v1/a.yaml\n"),
		"kustomize-components/b/kustomization.yaml": file("resources:\n- local.yaml\n"),
		"kustomize-components/b/local.yaml":         file("kind: ConfigMap\n"),
		"charts/telco-cloud-init/Chart.yaml": file(
			"apiVersion: v2\nname: telco-cloud-init\nversion: 1.2.3+build\n"),
		"charts/telco-cloud-init/values.yaml":      file("phase: bootstrap\n"),
		"charts/telco-cloud-init/.helmignore":      file("*.md\n"),
		"charts/telco-cloud-init/NOTES.md":         file("not for the package\n"),
		"charts/telco-cloud-init/templates/x.yaml": file("kind: ConfigMap\n"),
	}
}

// remoteFiles is a Fetcher of known files, which misses others as a bundle does.
type remoteFiles map[string]string

func (f remoteFiles) Fetch(_ context.Context, url string) ([]byte, error) {
	if data, found := f[url]; found {
		return []byte(data), nil
	}
	return nil, fault.New(fault.BundleInvalid, "the bundle does not contain "+url, "build it again")
}

func publishOptions() PublishOptions {
	return PublishOptions{
		FS: testContent(), Paths: []string{"./kustomize-components/a"},
		Fetch: remoteFiles{"https://example.org/v1/a.yaml": "kind: Namespace\n"},
	}
}

func TestFluxReadsContent(t *testing.T) {
	r := distribution.Start(t)
	p, err := Publish(context.Background(), target(r), publishOptions())
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	meta, err := fluxoci.NewClient([]crane.Option{crane.Insecure}).Pull(context.Background(), p.Content.Ref(), out)
	if err != nil {
		t.Fatalf("flux pull %s: %v", p.Content.Ref(), err)
	}
	if want := p.Content.Repository + "@" + p.Content.Digest; meta.Digest != want {
		t.Errorf("flux sees %s, want %s", meta.Digest, want)
	}
	got, err := ReadTree(os.DirFS(out), ".")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"kustomize-components/a/kustomization.yaml": "resources:\n- remote-a.yaml\n",
		"kustomize-components/a/remote-a.yaml":      "kind: Namespace\n",
		"kustomize-components/b/kustomization.yaml": "resources:\n- local.yaml\n",
		"kustomize-components/b/local.yaml":         "kind: ConfigMap\n",
	}
	if !maps.EqualFunc(got, want, func(a []byte, b string) bool { return string(a) == b }) {
		t.Errorf("flux unpacked\n%s\nwant\n%s", got, want)
	}
	manifest, err := crane.Manifest(p.Content.Ref(), crane.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	for _, mediaType := range []string{fluxConfigType, fluxContentType} {
		if !bytes.Contains(manifest, []byte(mediaType)) {
			t.Errorf("manifest lacks %s: %s", mediaType, manifest)
		}
	}
}

func TestHelmReadsChart(t *testing.T) {
	r := distribution.Start(t)
	p, err := Publish(context.Background(), target(r), publishOptions())
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^1\.2\.3_build\.[0-9a-f]{12}$`).MatchString(p.Chart.Tag) {
		t.Errorf("tag %q, want the version with Helm's underscore and the hash of what is in the chart", p.Chart.Tag)
	}
	client, err := registry.NewClient(registry.ClientOptPlainHTTP(),
		registry.ClientOptCredentialsFile(filepath.Join(t.TempDir(), "none.json")))
	if err != nil {
		t.Fatal(err)
	}
	pulled, err := client.Pull(p.Chart.Repository + ":" + strings.ReplaceAll(p.Chart.Tag, "_", "+"))
	if err != nil {
		t.Fatalf("helm pull: %v", err)
	}
	if pulled.Manifest.Digest != p.Chart.Digest {
		t.Errorf("helm sees %s, want %s", pulled.Manifest.Digest, p.Chart.Digest)
	}
	chart, err := loader.LoadArchive(bytes.NewReader(pulled.Chart.Data))
	if err != nil {
		t.Fatalf("load the pulled chart: %v", err)
	}
	var files []string
	for _, f := range chart.Raw {
		files = append(files, f.Name)
	}
	slices.Sort(files)
	want := []string{".helmignore", "Chart.yaml", "templates/x.yaml", "values.yaml"}
	if chart.Name() != chartName || !slices.Equal(files, want) {
		t.Errorf("chart %s of %v, want %v", chart.Name(), files, want)
	}
}

func TestPublishAgainSendsNothing(t *testing.T) {
	r := distribution.Start(t)
	first, err := Publish(context.Background(), target(r), publishOptions())
	if err != nil {
		t.Fatal(err)
	}
	if r.Writes.Load() == 0 {
		t.Fatal("the first publish wrote nothing: the counter is blind")
	}
	r.Writes.Store(0)
	second, err := Publish(context.Background(), target(r), publishOptions())
	if err != nil {
		t.Fatal(err)
	}
	if first != second {
		t.Errorf("the same content became\n%+v, then\n%+v", first, second)
	}
	if n := r.Writes.Load(); n != 0 {
		t.Errorf("publishing the same again sent %d writes", n)
	}
}

func TestPublishChangedContentChangesTag(t *testing.T) {
	r := distribution.Start(t)
	o := publishOptions()
	first, err := Publish(context.Background(), target(r), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Fetch = remoteFiles{"https://example.org/v1/a.yaml": "kind: Other\n"}
	second, err := Publish(context.Background(), target(r), o)
	if err != nil {
		t.Fatal(err)
	}
	if first.Content.Tag == second.Content.Tag || first.Content.Digest == second.Content.Digest {
		t.Errorf("changed content kept its place: %+v", second.Content)
	}
	if first.Chart != second.Chart {
		t.Errorf("the chart changed with the content: %+v", second.Chart)
	}
}

func TestPublishErrors(t *testing.T) {
	broken := testContent()
	broken["charts/telco-cloud-init/Chart.yaml"].Data = []byte("apiVersion: v2\nname: telco-cloud-init\n")
	cases := []struct {
		name string
		edit func(*PublishOptions)
		want fault.Code
	}{
		{"bundle without the manifest", func(o *PublishOptions) { o.Fetch = remoteFiles{} }, fault.BundleInvalid},
		{"component that is not there", func(o *PublishOptions) { o.Paths = []string{"./kustomize-components/none"} },
			fault.ComponentUnknown},
		{"chart without a version", func(o *PublishOptions) { o.FS = fs.FS(broken) }, fault.ValuesInvalid},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			r := distribution.Start(t)
			o := publishOptions()
			tc.edit(&o)
			_, err := Publish(context.Background(), target(r), o)
			if fault.CodeOf(err) != tc.want || fault.HintOf(err) == "" {
				t.Errorf("error %v has code %q and hint %q, want %q", err, fault.CodeOf(err), fault.HintOf(err),
					tc.want)
			}
			if r.Writes.Load() != 0 {
				t.Error("a publish that failed left something behind")
			}
		})
	}
}
