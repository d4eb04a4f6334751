package kube

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// Served is a kind that an API server serves and lists, in the version that it prefers.
type Served struct {
	Resource   schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// Served returns the kinds that the API server serves, of all groups. It sends two requests. If the server of an
// aggregated API does not answer, its kinds are missing, and the result comes with an error.
func (c *Cluster) Served(ctx context.Context) ([]Served, error) {
	bounded := rest.CopyConfig(c.Config)
	if deadline, hasDeadline := ctx.Deadline(); hasDeadline { // discovery takes no context
		bounded.Timeout = max(time.Until(deadline), time.Millisecond)
	}
	client, err := discovery.NewDiscoveryClientForConfig(bounded)
	if err != nil {
		return nil, fmt.Errorf("make a discovery client for the %s cluster: %w", c.Name, err)
	}
	lists, err := client.ServerPreferredResources()
	var found []Served
	for _, list := range lists {
		group, parseErr := schema.ParseGroupVersion(list.GroupVersion)
		if parseErr != nil {
			continue
		}
		for _, kind := range list.APIResources {
			if slices.Contains(kind.Verbs, "list") {
				found = append(found, Served{group.WithResource(kind.Name), kind.Kind, kind.Namespaced})
			}
		}
	}
	return found, err
}

// InGroups returns the kinds that are in groups, or below them: "fluxcd.io" includes "source.toolkit.fluxcd.io".
func InGroups(served []Served, groups ...string) []Served {
	return slices.DeleteFunc(slices.Clone(served), func(s Served) bool {
		return !slices.ContainsFunc(groups, func(g string) bool {
			return s.Resource.Group == g || strings.HasSuffix(s.Resource.Group, "."+g)
		})
	})
}
