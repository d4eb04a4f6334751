package readiness

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// appliedQuestions check whether everything that Flux applied exists. They list the metadata of each of its kinds, also
// of those that were listed before.
func (o *observing) appliedQuestions(ctx context.Context, v *view) []question {
	byKind := map[schema.GroupKind][]Applied{}
	for _, u := range v.Objects {
		by := health.RefOf(u)
		if by.Kind != "Kustomization" && by.Kind != "HelmRelease" || u.GetDeletionTimestamp() != nil {
			continue
		}
		for _, r := range health.Inventory(u) {
			kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
			byKind[kind] = append(byKind[kind], Applied{r, by})
		}
	}
	var groups []string
	for kind := range byKind {
		groups = append(groups, kind.Group)
	}
	if len(groups) == 0 {
		return nil
	}
	slices.Sort(groups)
	bounded, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	served, err := o.ServedIn(bounded, slices.Compact(groups))
	if err != nil {
		o.notChecked("some kinds of what Flux applied in the %s cluster: %v", o.Name, err)
	}
	client, clientErr := metadata.NewForConfig(o.Config)
	if clientErr != nil {
		o.notChecked("what Flux applied in the %s cluster: %v", o.Name, clientErr)
		return nil
	}
	var questions []question
	for kind, applied := range byKind {
		i := slices.IndexFunc(served, func(s kube.Served) bool {
			return s.Resource.Group == kind.Group &&
				s.Kind == kind.Kind
		})
		if i < 0 {
			if err == nil { // its definition is gone, and all objects with it
				questions = append(questions, func(context.Context) { o.missing(applied...) })
			}
			continue
		}
		questions = append(questions, func(ctx context.Context) { o.lookFor(ctx, client, served[i], applied) })
	}
	return questions
}

// lookFor reports what does not exist. It gets each object missing from the list separately: the list may be older than
// Flux's inventory.
func (o *observing) lookFor(ctx context.Context, client metadata.Interface, kind kube.Served, applied []Applied) {
	list, err := client.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		o.notChecked("%s of the %s cluster, which Flux applied: %v", kind.Resource.GroupResource(), o.Name, err)
		return
	}
	type name struct{ namespace, name string }
	there := map[name]bool{}
	for _, each := range list.Items {
		there[name{each.Namespace, each.Name}] = true
	}
	for _, a := range applied {
		if there[name{a.Object.Namespace, a.Object.Name}] {
			continue
		}
		_, err := client.Resource(kind.Resource).Namespace(a.Object.Namespace).Get(ctx, a.Object.Name,
			metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
			o.missing(a)
		case err != nil:
			o.notChecked("%s of the %s cluster: %v", a.Object, o.Name, err)
		}
	}
}

func (o *observing) missing(a ...Applied) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen.Missing = append(o.seen.Missing, a...)
}
