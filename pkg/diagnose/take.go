package diagnose

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// ownKinds are the groups of API of which every kind is read, also those of providers that nobody here has heard of: Flux, Cluster API, and
// what they stand on.
func ownKinds() []string {
	return []string{"toolkit.fluxcd.io", "cluster.x-k8s.io", "cert-manager.io", "k-orc.cloud"}
}

// builtInKinds are those of Kubernetes' own kinds that something of ours is made of.
func builtInKinds() []kube.Served {
	core := schema.GroupVersion{Version: "v1"}
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	return []kube.Served{
		{Resource: core.WithResource("nodes"), Kind: "Node"},
		{Resource: core.WithResource("namespaces"), Kind: "Namespace"},
		{Resource: core.WithResource("pods"), Kind: "Pod", Namespaced: true},
		{Resource: core.WithResource("persistentvolumeclaims"), Kind: "PersistentVolumeClaim", Namespaced: true},
		{Resource: apps.WithResource("deployments"), Kind: "Deployment", Namespaced: true},
		{Resource: apps.WithResource("daemonsets"), Kind: "DaemonSet", Namespaced: true},
		{Resource: apps.WithResource("statefulsets"), Kind: "StatefulSet", Namespaced: true},
		{Resource: apps.WithResource("replicasets"), Kind: "ReplicaSet", Namespaced: true},
		{Resource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}, Kind: "Job", Namespaced: true},
	}
}

// namedKinds are those of which only the names are read: whether something exists is enough, and nobody's secrets are fetched for it.
func namedKinds() []kube.Served {
	core := schema.GroupVersion{Version: "v1"}
	return []kube.Served{
		{Resource: core.WithResource("secrets"), Kind: "Secret", Namespaced: true},
		{Resource: core.WithResource("configmaps"), Kind: "ConfigMap", Namespaced: true},
	}
}

const (
	listBound = 10 * time.Second // for one kind
	atOnce    = 8                // questions
)

// taking gathers the answers of questions that are asked side by side.
type taking struct {
	mu     sync.Mutex
	listed Listed
}

// Take reads a cluster. What cannot be read is noted, and all else is still read.
func Take(ctx context.Context, c *kube.Cluster) Listed {
	t := &taking{listed: Listed{Cluster: c.Name}}
	served, err := c.ServedIn(ctx, ownKinds())
	if err != nil {
		t.unasked("some kinds of the %s cluster: %v", c.Name, err)
	}
	names, err := metadata.NewForConfig(c.Config)
	if err != nil {
		t.unasked("Secrets and ConfigMaps of the %s cluster: %v", c.Name, err)
	}
	var beside errgroup.Group // no question fails: what has no answer is noted
	beside.SetLimit(atOnce)
	for _, kind := range slices.Concat(served, builtInKinds()) {
		beside.Go(func() error { t.list(ctx, c, kind); return nil })
	}
	if names != nil {
		for _, kind := range namedKinds() {
			beside.Go(func() error { t.names(ctx, c.Name, names, kind); return nil })
		}
	}
	beside.Go(func() error { t.events(ctx, c); return nil })
	_ = beside.Wait()
	slices.Sort(t.listed.Unasked)
	return t.listed
}

func (t *taking) list(ctx context.Context, c *kube.Cluster, kind kube.Served) {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	list, err := c.Dynamic.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.unasked("%s of the %s cluster: %v", kind.Resource.GroupResource(), c.Name, err)
		return
	}
	objects := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		objects[i] = &list.Items[i]
	}
	t.found(kind, objects)
}

func (t *taking) names(ctx context.Context, cluster string, client metadata.Interface, kind kube.Served) {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	list, err := client.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		t.unasked("%s of the %s cluster: %v", kind.Resource.GroupResource(), cluster, err)
		return
	}
	var objects []*unstructured.Unstructured
	for _, each := range list.Items {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(kind.Resource.GroupVersion().WithKind(kind.Kind))
		u.SetNamespace(each.Namespace)
		u.SetName(each.Name)
		objects = append(objects, u)
	}
	t.found(kind, objects)
}

func (t *taking) events(ctx context.Context, c *kube.Cluster) {
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	list, err := c.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).List(ctx, metav1.ListOptions{FieldSelector: "type=Warning"})
	if err != nil {
		t.unasked("events of the %s cluster: %v", c.Name, err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range list.Items {
		t.listed.Events = append(t.listed.Events, &list.Items[i])
	}
}

func (t *taking) found(kind kube.Served, objects []*unstructured.Unstructured) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listed.Kinds = append(t.listed.Kinds, schema.GroupKind{Group: kind.Resource.Group, Kind: kind.Kind})
	t.listed.Objects = append(t.listed.Objects, objects...)
}

func (t *taking) unasked(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listed.Unasked = append(t.listed.Unasked, fmt.Sprintf(format, args...))
}
