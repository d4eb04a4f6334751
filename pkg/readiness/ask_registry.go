package readiness

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Registry is the container of a registry that the sources of Flux can read from. The cluster does not show whether it
// runs: a source stays ready until its next fetch.
type Registry struct {
	Name string
	// State returns the container's state as the Docker engine calls it, or one of the constants below.
	State func(context.Context) (string, error)
}

// The states of a registry that a judge distinguishes.
const (
	RegistryRunning = "running"
	RegistryPaused  = "paused"
	RegistryAbsent  = "absent"
)

// registryQuestions check the registries that a source reads from.
func (o *observing) registryQuestions(v *view, registries []Registry) []question {
	var questions []question
	for _, r := range registries {
		if v.readsFrom(r.Name) {
			questions = append(questions, func(ctx context.Context) { o.registryState(ctx, r) })
		}
	}
	return questions
}

func (o *observing) registryState(ctx context.Context, r Registry) {
	state, err := r.State(ctx)
	if err != nil {
		o.notChecked("the registry %s, which a source of the %s cluster reads from: %v", r.Name, o.Name, err)
		return
	}
	object := health.Ref{Kind: "Container", Name: r.Name}
	o.probed(Probe{Kind: RegistryRuns, Object: object, OK: state == RegistryRunning, Message: state})
}

// readsFrom reports whether a source of Flux reads from a host.
func (v *view) readsFrom(host string) bool {
	return slices.ContainsFunc(v.Objects, func(u *unstructured.Unstructured) bool {
		return u.GroupVersionKind().Group == "source.toolkit.fluxcd.io" &&
			strings.Contains(text(u, "spec", "url"), "://"+host+":")
	})
}
