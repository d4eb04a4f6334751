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

// appliedQuestions check whether everything that Flux applied exists. They list the metadata of the kinds that were not
// listed before.
func (o *observing) appliedQuestions(v *view) []question {
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
	if len(byKind) == 0 {
		return nil
	}
	client, clientErr := metadata.NewForConfig(o.Config)
	if clientErr != nil {
		o.notChecked("what Flux applied in the %s cluster: %v", o.Name, clientErr)
		return nil
	}
	var questions []question
	for kind, applied := range byKind {
		i := slices.IndexFunc(o.served, func(s kube.Served) bool {
			return s.Resource.Group == kind.Group &&
				s.Kind == kind.Kind
		})
		if i < 0 {
			if !o.someUnserved { // its definition is gone, and all objects with it
				questions = append(questions, func(context.Context) { o.missing(applied...) })
			}
			continue
		}
		questions = append(questions, func(ctx context.Context) {
			exists := func(r health.Ref) bool { return v.objects[r] != nil }
			if !v.listed(kind.Group, kind.Kind) {
				var err error
				if exists, err = existing(ctx, client, o.served[i]); err != nil {
					o.notChecked("%s of the %s cluster, which Flux applied: %v",
						o.served[i].Resource.GroupResource(), o.Name, err)
					return
				}
			}
			o.lookFor(ctx, client, o.served[i], slices.DeleteFunc(applied, func(a Applied) bool {
				return exists(a.Object)
			}))
		})
	}
	return questions
}

// existing lists the objects of a kind, without their content.
func existing(ctx context.Context, client metadata.Interface, kind kube.Served) (func(health.Ref) bool, error) {
	list, err := client.Resource(kind.Resource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	there := map[health.Ref]bool{}
	for _, each := range list.Items {
		there[health.Ref{Group: kind.Resource.Group, Kind: kind.Kind, Namespace: each.Namespace,
			Name: each.Name}] = true
	}
	return func(r health.Ref) bool { return there[r] }, nil
}

// lookFor reports which of the objects that no list contained do not exist. It gets each of them: the list may be older
// than Flux's inventory.
func (o *observing) lookFor(ctx context.Context, client metadata.Interface, kind kube.Served, unlisted []Applied) {
	for _, a := range unlisted {
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
