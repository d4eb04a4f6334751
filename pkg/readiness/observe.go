package readiness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

const (
	askBound = 10 * time.Second // of one check
	atOnce   = 8                // checks
)

// observing gathers the results of checks that run at the same time.
type observing struct {
	*kube.Cluster
	mu           sync.Mutex
	seen         Observation
	served       []kube.Served // kinds of all groups
	someUnserved bool          // kinds can be missing from served
}

// Observe reads a cluster, and checks those registries that its sources read from. It notes what cannot be read, and
// still reads the rest.
func Observe(ctx context.Context, c *kube.Cluster, registries ...Registry) Observation {
	o := &observing{Cluster: c, seen: Observation{Cluster: c.Name, Local: time.Now()}}
	o.lists(ctx)
	o.digest()
	v := newView(o.seen)
	o.together(ctx, slices.Concat(o.serverQuestions(), o.writeQuestions(v), o.readQuestions(v), o.accountQuestions(v),
		o.etcdQuestions(v), o.appliedQuestions(v), o.registryQuestions(v, registries)))
	o.seen.Expiries = append(o.seen.Expiries, machineExpiries(o.seen.Objects)...)
	o.seen.Expiries = append(o.seen.Expiries, kubeconfigExpiries(c.Config)...)
	o.seen.sort()
	return o.seen
}

// sort puts what the checks found into the same order in each run: they answer in any order.
func (o *Observation) sort() {
	slices.Sort(o.NotChecked)
	o.NotChecked = slices.Compact(o.NotChecked)
	slices.SortFunc(o.Probes, func(a, b Probe) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), compareRefs(a.Object, b.Object), cmp.Compare(a.Message, b.Message))
	})
	slices.SortFunc(o.Objects, func(a, b *unstructured.Unstructured) int {
		return compareRefs(health.RefOf(a), health.RefOf(b))
	})
	slices.SortFunc(o.Missing, func(a, b Applied) int {
		return cmp.Or(compareRefs(a.Object, b.Object), compareRefs(a.By, b.By))
	})
	slices.SortFunc(o.Expiries, func(a, b Expiry) int {
		return cmp.Or(compareRefs(a.Object, b.Object), cmp.Compare(a.What, b.What), a.At.Compare(b.At))
	})
}

func compareRefs(a, b health.Ref) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(a.Name, b.Name))
}

// question is a check that runs at the same time as others and records its own result.
type question func(context.Context)

func (o *observing) together(ctx context.Context, questions []question) {
	var g errgroup.Group // no check returns an error: one without an answer is noted
	g.SetLimit(atOnce)
	for _, ask := range questions {
		g.Go(func() error {
			bounded, cancel := context.WithTimeout(ctx, askBound)
			defer cancel()
			ask(bounded)
			return nil
		})
	}
	_ = g.Wait()
}

// lists reads all objects of the kinds that are judged, and warning events.
func (o *observing) lists(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	var err error
	if o.served, err = o.Served(bounded); err != nil {
		o.someUnserved = true
		o.notChecked("some kinds of the %s cluster: %v", o.Name, err)
	}
	names, err := metadata.NewForConfig(o.Config)
	if err != nil {
		o.notChecked("Secrets and ConfigMaps of the %s cluster: %v", o.Name, err)
	}
	questions := []question{o.events, o.definitions}
	for _, kind := range slices.Concat(kube.InGroups(o.served, ownGroups()...), builtInKinds()) {
		questions = append(questions, func(ctx context.Context) { o.list(ctx, kind) })
	}
	if names != nil {
		for _, kind := range namedKinds() {
			questions = append(questions, func(ctx context.Context) { o.names(ctx, names, kind) })
		}
	}
	o.together(ctx, questions)
}

func (o *observing) list(ctx context.Context, kind kube.Served) {
	list, err := o.Dynamic.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		o.notChecked("%s of the %s cluster: %v", kind.Resource.GroupResource(), o.Name, err)
		return
	}
	objects := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		objects[i] = &list.Items[i]
	}
	o.found(kind, objects)
}

func (o *observing) definitions(ctx context.Context) {
	crds, err := kube.Definitions(ctx, o.Client)
	objects := make([]*unstructured.Unstructured, len(crds))
	for i := range crds {
		if err == nil {
			objects[i] = &unstructured.Unstructured{}
			objects[i].Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&crds[i])
		}
	}
	if err != nil {
		o.notChecked("customresourcedefinitions.apiextensions.k8s.io of the %s cluster: %v", o.Name, err)
		return
	}
	o.found(definitionKind(), objects)
}

func (o *observing) names(ctx context.Context, client metadata.Interface, kind kube.Served) {
	list, err := client.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		o.notChecked("%s of the %s cluster: %v", kind.Resource.GroupResource(), o.Name, err)
		return
	}
	var objects []*unstructured.Unstructured
	for _, each := range list.Items {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(kind.Resource.GroupVersion().WithKind(kind.Kind))
		u.SetNamespace(each.Namespace)
		u.SetName(each.Name)
		u.SetManagedFields(each.ManagedFields)
		u.SetDeletionTimestamp(each.DeletionTimestamp)
		u.SetFinalizers(each.Finalizers)
		objects = append(objects, u)
	}
	o.found(kind, objects)
}

func (o *observing) events(ctx context.Context) {
	list, err := o.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).List(
		ctx, metav1.ListOptions{FieldSelector: "type=Warning"})
	if err != nil {
		o.notChecked("events of the %s cluster: %v", o.Name, err)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range list.Items {
		o.seen.Events = append(o.seen.Events, &list.Items[i])
	}
}

func (o *observing) found(kind kube.Served, objects []*unstructured.Unstructured) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Kinds = append(o.seen.Kinds, schema.GroupKind{Group: kind.Resource.Group, Kind: kind.Kind})
	o.seen.Objects = append(o.seen.Objects, objects...)
}

func (o *observing) probed(p Probe) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Probes = append(o.seen.Probes, p)
}

func (o *observing) expires(e ...Expiry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Expiries = append(o.seen.Expiries, e...)
}

func (o *observing) notChecked(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.NotChecked = append(o.seen.NotChecked, fmt.Sprintf(format, args...))
}

// unanswered reports whether an error says nothing about the check, for example because the user has no permission, or
// there was no answer.
func unanswered(err error) bool {
	var status apierrors.APIStatus
	switch {
	case !errors.As(err, &status):
		return true
	case apierrors.IsForbidden(err):
		return strings.Contains(err.Error(), `is forbidden: User "`) // the others are those of admission
	case apierrors.IsInternalError(err):
		return !strings.Contains(err.Error(), "webhook")
	}
	return apierrors.IsUnauthorized(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) ||
		apierrors.IsTimeout(err) || strings.Contains(err.Error(), "does not support dry run")
}
