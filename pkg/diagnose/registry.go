package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/pivot/world"
)

// registryState is what is wrong with the registry that a source reads from, where that is a container of ours: a source stays ready for as long as
// nobody fetches it again.
func registryState(ctx context.Context, w *world.World, clusters []Seen) (signals []Signals, unasked []string) {
	name := w.RegistryName()
	if !slices.ContainsFunc(clusters, func(seen Seen) bool { return readsFrom(seen.Objects, name) }) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	found, err := w.Docker.Inspect(ctx, name)
	r := health.Ref{Kind: "Container", Name: name}
	switch {
	case errors.Is(err, docker.ErrNotFound):
		return []Signals{{r, []Signal{{From: "stopped", Reason: "absent", Message: "does not exist, and a source reads from it"}}}}, nil
	case err != nil:
		return nil, []string{fmt.Sprintf("the registry %s: %v", name, err)}
	case found.Status == "paused":
		return []Signals{{r, []Signal{{From: "stopped", Reason: "paused", Message: "is paused"}}}}, nil
	case !found.Running:
		return []Signals{{r, []Signal{{From: "stopped", Reason: found.Status, Message: "does not run, and a source reads from it"}}}}, nil
	}
	return nil, nil
}

// readsFrom reports whether a source of Flux reads from a host.
func readsFrom(objects []*unstructured.Unstructured, host string) bool {
	return slices.ContainsFunc(objects, func(u *unstructured.Unstructured) bool {
		url, _, _ := unstructured.NestedString(u.Object, "spec", "url")
		return u.GroupVersionKind().Group == "source.toolkit.fluxcd.io" && strings.Contains(url, "://"+host+":")
	})
}
