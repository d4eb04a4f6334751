package clusters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Answer is what a cluster answers through one kubeconfig that names the management cluster.
type Answer struct {
	Path string // of the kubeconfig
	// Proven reports whether the kubeconfig is certainly the cluster's. `up` saved it, or it is of the same cluster as
	// the one that `up` saved.
	Proven bool
	// Err is why there is no answer that counts.
	Err error
	// The fields below are set only without Err.
	Host string // the address where the cluster answers
	// Clusters are the Clusters of all namespaces.
	Clusters []capi.Cluster

	kubeconfig []byte // nil: it could not be read
}

// SameCluster reports whether the kubeconfigs of two answers are known to be of one cluster.
func (a Answer) SameCluster(b Answer) bool { return kube.SameCluster(a.kubeconfig, b.kubeconfig) }

// KubeconfigPaths returns the files that may name the management cluster. The last one is that of `up`.
func (n ByName) KubeconfigPaths() []string { return kubeconfigPaths(n.Kubeconfig, n.StateFolder) }

// SeeManagement observes the management cluster through each kubeconfig that names it, in parallel. The result is empty
// if no file names one. balancer reports whether the container of its load balancer is known to be managed.
func (n ByName) SeeManagement(ctx context.Context, balancer bool) []Answer {
	all := n.named()
	var asking sync.WaitGroup
	for i := range all {
		if all[i].Err == nil {
			asking.Go(func() { n.ask(ctx, &all[i], balancer) })
		}
	}
	asking.Wait()
	return all
}

// ConnectManagement connects to the clusters that count as the management cluster: each one that answers and holds the
// Cluster, or whose kubeconfig is proven. Several kubeconfigs of one cluster give one connection.
func (n ByName) ConnectManagement(ctx context.Context, balancer bool) []*kube.Cluster {
	var counted []*kube.Cluster
	for _, a := range slices.Backward(n.named()) { // the kubeconfig of `up` first
		if a.Err != nil || slices.ContainsFunc(counted, func(c *kube.Cluster) bool {
			return kube.SameCluster(c.Kubeconfig, a.kubeconfig)
		}) {
			continue
		}
		c, err := n.reach(ctx, a.kubeconfig, balancer)
		if err != nil {
			continue
		}
		all, err := capi.Clusters(ctx, c, "")
		isOwn := func(held capi.Cluster) bool { return n.IsOwnCluster(held.Object) }
		if a.Proven || err == nil && slices.ContainsFunc(all, isOwn) {
			counted = append(counted, c)
		}
	}
	return counted
}

// named returns the kubeconfigs that exist, without their clusters' answers.
func (n ByName) named() []Answer {
	var all []Answer
	var saved []byte
	for _, path := range n.KubeconfigPaths() {
		content, err := readKubeconfig(path)
		switch {
		case err != nil:
			all = append(all, Answer{Path: path, Err: fmt.Errorf("read its kubeconfig: %w", err)})
			continue
		case content == nil:
			continue
		case path == savedPath(n.StateFolder):
			saved = content
		}
		all = append(all, Answer{Path: path, kubeconfig: content})
	}
	for i := range all {
		all[i].Proven = kube.SameCluster(all[i].kubeconfig, saved)
	}
	return all
}

// ask fills an answer in. It lists the Clusters of all namespaces: containers and files here are known only by the
// cluster's name.
func (n ByName) ask(ctx context.Context, a *Answer, balancer bool) {
	c, err := n.reach(ctx, a.kubeconfig, balancer)
	if err != nil {
		a.Err = err
		return
	}
	if a.Clusters, err = capi.Clusters(ctx, c, ""); err != nil {
		a.Err = fmt.Errorf("it answers at %s: %w", c.Config.Host, err)
		return
	}
	a.Host = c.Config.Host
}

// reach connects to the cluster of a kubeconfig. If no API server answers there, it uses the port that the container of
// the load balancer publishes. That port changes when the container restarts. Unlike World.reach it asks the second
// address only after the first, and never one of a container that is not known to be managed.
func (n ByName) reach(ctx context.Context, kubeconfig []byte, balancer bool) (*kube.Cluster, error) {
	c, err := reachAt(ctx, kubeconfig)
	if _, answered := errors.AsType[*apierrors.StatusError](err); err == nil || answered || !balancer {
		return c, err
	}
	container, inspectErr := n.Engine.Inspect(ctx, owned.LoadBalancer(n.Cluster))
	if inspectErr != nil {
		return nil, err
	}
	elsewhere, publishedErr := n.published(ctx, kubeconfig, container)
	if publishedErr != nil {
		return nil, err
	}
	c, elsewhereErr := reachAt(ctx, elsewhere)
	if elsewhereErr != nil {
		return nil, fmt.Errorf("%w; by the port of its load balancer: %w", err, elsewhereErr)
	}
	return c, nil
}
