//go:build integration

package fluxserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"
)

// Versions are the resource versions of all objects of an API server, by resource, namespace and name.
type Versions map[string]string

// Versions reads all objects of all kinds that the server lists. Events and Leases are not among them: the API server
// itself writes those.
func (s Server) Versions(ctx context.Context, t *testing.T) Versions {
	t.Helper()
	served, err := s.Client.Served(ctx)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := metadata.NewForConfig(s.Client.Config)
	if err != nil {
		t.Fatal(err)
	}
	found := Versions{}
	for _, kind := range served {
		if slices.Contains([]string{"Event", "Lease"}, kind.Kind) {
			continue
		}
		list, err := reader.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatalf("list %s: %v", kind.Resource.GroupResource(), err)
		}
		for _, o := range list.Items {
			found[fmt.Sprintf("%s %s/%s", kind.Resource.GroupResource(), o.Namespace, o.Name)] = o.ResourceVersion
		}
	}
	return found
}

// Changes says which objects were created, changed and deleted until a later reading.
func (v Versions) Changes(later Versions) []string {
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(later)) {
		switch was, existed := v[name]; {
		case !existed:
			changes = append(changes, "created "+name)
		case was != later[name]:
			changes = append(changes, "changed "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if _, exists := later[name]; !exists {
			changes = append(changes, "deleted "+name)
		}
	}
	return changes
}
