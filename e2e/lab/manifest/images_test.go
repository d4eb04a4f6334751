package manifest

import (
	"slices"
	"testing"
)

const deployment = `
spec:
  containers:
    - image: registry.k8s.io/x/controller:v1.14.0
      args:
        - --acme-http01-solver-image=quay.io/jetstack/solver:v1.21.1
    - name: second
      image: "quay.io/jetstack/webhook:v1.21.1"
  description: the image: of a thing
`

func TestImages(t *testing.T) {
	got, err := Manifest{URL: "https://x/a.yaml", Content: []byte(deployment)}.Images()
	want := []string{"quay.io/jetstack/solver:v1.21.1", "quay.io/jetstack/webhook:v1.21.1",
		"registry.k8s.io/x/controller:v1.14.0"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v (%v)", got, err)
	}
}

func TestImagesOfAnArchive(t *testing.T) {
	archive, err := packFiles(map[string][]byte{"b.yaml": []byte("        image: fluxcd/b:v1\n"),
		"a.yaml": []byte("        image: fluxcd/a:v1\n")})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Manifest{URL: "https://x/manifests.tar.gz", Content: archive}.Images()
	if err != nil || !slices.Equal(got, []string{"ghcr.io/fluxcd/a:v1", "ghcr.io/fluxcd/b:v1"}) {
		t.Errorf("got %v (%v)", got, err)
	}
}
