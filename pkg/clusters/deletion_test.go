package clusters

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/capi"
)

func TestADeletionSaysWhatItWaitsFor(t *testing.T) {
	leaving := []capi.Leaving{{Object: capi.Object{Kind: "Machine", Namespace: "ns", Name: "a"},
		Why: "two\nvolumes are attached"}, {Object: capi.Object{Kind: "DockerCluster", Namespace: "ns", Name: "demo"},
		Finalizers: []string{"f"}}}
	if got := waitsFor(leaving); got != "Machine ns/a (two volumes are attached); DockerCluster ns/demo (finalizer f)" {
		t.Error(got)
	}
	if got := waitsFor(nil); got != "its controllers" {
		t.Error(got)
	}
}
