package readiness

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// There may be hundreds of workload clusters: status reads one of the artifacts with the same content.
func TestArtifacts(t *testing.T) {
	source := func(namespace, name, digest string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "source.toolkit.fluxcd.io/v1",
			"kind": "OCIRepository"}}
		u.SetNamespace(namespace)
		u.SetName(name)
		set(t, u, "http://source-controller/"+namespace+"/"+name, "status", "artifact", "url")
		set(t, u, digest, "status", "artifact", "digest")
		return u
	}
	waiting := source("team-c", "waiting", "")
	set(t, waiting, "", "status", "artifact", "url")
	v := newView(Observation{Objects: []*unstructured.Unstructured{
		source("flux-system", "content", "sha256:1"), source("flux-system", "same", "sha256:1"),
		source("team-a", "one", "sha256:2"), source("team-b", "two", "sha256:2"), source("team-b", "three", "sha256:3"),
		source("team-c", "old", ""), source("team-d", "old", ""), waiting,
	}})
	var got []string
	for _, u := range v.artifacts() {
		got = append(got, u.GetNamespace()+"/"+u.GetName())
	}
	want := []string{"flux-system/content", "flux-system/same", "team-a/one", "team-b/three", "team-c/old",
		"team-d/old"}
	if !slices.Equal(got, want) {
		t.Errorf("reads the artifacts of %v, want %v", got, want)
	}
}
