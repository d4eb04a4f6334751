package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// dependent is an object of another owner that would be deleted with the release, or that needs a part of it.
type dependent struct {
	object
	resource string // with its group, as kubectl accepts it
	needs    string // the part of the release that it needs; empty: it would be deleted
}

func (d dependent) String() string {
	if d.needs == "" {
		return called(d.object)
	}
	return called(d.object) + " (" + d.needs + ")"
}

// dependent returns an object of another owner as a dependent. needs is the part of the release that it needs.
func (i inventory) dependent(o object, needs string) dependent {
	for _, s := range i.served {
		if o.GroupVersionKind() == s.Resource.GroupVersion().WithKind(s.Kind) {
			return dependent{o, s.Resource.GroupResource().String(), needs}
		}
	}
	return dependent{o, strings.ToLower(o.Kind), needs}
}

// deletedDependents returns the objects of others, among all, that would be deleted with lost objects: those of a kind
// whose definition goes, those that run or store data in a namespace that goes, and those that the garbage collector
// deletes with their owner.
func (i inventory) deletedDependents(all, lost []object) []dependent {
	var found []dependent
	for _, o := range i.instances(all, lost) {
		found = append(found, i.dependent(o, ""))
	}
	namespaces := map[string]bool{}
	for _, o := range lost {
		namespaces[o.Name] = namespaces[o.Name] || o.Kind == "Namespace" && !i.keeps(o)
	}
	for _, o := range all {
		if namespaces[o.Namespace] && isWork(o) && len(o.OwnerReferences) == 0 && !i.isOurs(o) {
			found = append(found, i.dependent(o, ""))
		}
	}
	return append(found, i.ownedDependents(all, lost)...)
}

// collected returns all objects of the cluster. While some of the dependents among them have only owners that are gone,
// it waits for the garbage collector, as long as that may take.
func (r *Removal) collected(ctx context.Context, found inventory, lost []object) ([]object, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for end := r.world.Now().Add(r.collection); ; {
		all, err := r.list(ctx, found.served)
		if err != nil {
			return nil, err
		}
		exists := map[types.UID]bool{}
		for _, o := range all {
			exists[o.UID] = true
		}
		waits := slices.ContainsFunc(found.deletedDependents(all, lost), func(s dependent) bool {
			return len(s.OwnerReferences) > 0 && !slices.ContainsFunc(s.OwnerReferences,
				func(owner metav1.OwnerReference) bool { return exists[owner.UID] })
		})
		if !waits || !r.world.Now().Before(end) {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait until Kubernetes has deleted objects whose owners are gone: %w",
				context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// isWork reports whether an object runs something or stores data.
func isWork(o object) bool {
	return slices.Contains([]schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "StatefulSet"},
		{Group: "apps", Kind: "DaemonSet"}, {Group: "batch", Kind: "Job"}, {Group: "batch", Kind: "CronJob"},
		{Kind: "PersistentVolumeClaim"}, {Kind: "Pod"}}, o.GroupVersionKind().GroupKind())
}

// instances returns the objects of others, among all, of the kinds that definitions among lost objects define.
func (i inventory) instances(all, lost []object) []object {
	defined := map[string]bool{}
	for _, o := range lost {
		if o.Kind == crdKind().Kind && !i.keeps(o) {
			defined[o.Name] = true
		}
	}
	kinds := map[schema.GroupVersionKind]bool{}
	for _, s := range i.served {
		kinds[s.Resource.GroupVersion().WithKind(s.Kind)] = defined[s.Resource.GroupResource().String()]
	}
	counted := map[types.UID]bool{}
	for _, o := range all {
		counted[o.UID] = kinds[o.GroupVersionKind()]
	}
	return slices.DeleteFunc(slices.Clone(all), func(o object) bool {
		// the provider for AWS creates it again and again
		isDefault := o.Kind == "AWSClusterControllerIdentity" && o.Name == "default"
		// its owner counts in its place: an owner of a kind that stays does not, and neither does one that is gone
		isPart := slices.ContainsFunc(o.OwnerReferences, func(owner metav1.OwnerReference) bool {
			return counted[owner.UID]
		})
		return !counted[o.UID] || isDefault || isPart || i.isOurs(o)
	})
}

// ownedDependents returns what the garbage collector deletes with lost objects, without what their controllers made.
// Objects of custom kinds are not among it: policy engines have each object own a report.
func (i inventory) ownedDependents(all, lost []object) []dependent {
	goes := map[types.UID]object{}
	for _, o := range lost {
		if !i.keeps(o) {
			goes[o.UID] = o
		}
	}
	for more := true; more; {
		more = false
		for _, o := range all {
			by := metav1.GetControllerOf(o)
			if by != nil && goes[by.UID] != nil && goes[o.UID] == nil {
				goes[o.UID], more = o, true
			}
		}
	}
	var found []dependent
	for _, o := range all {
		lives := func(owner metav1.OwnerReference) bool { return goes[owner.UID] == nil }
		if len(o.OwnerReferences) == 0 || slices.ContainsFunc(o.OwnerReferences, lives) || goes[o.UID] != nil ||
			isCustom(o) || i.isOurs(o) {
			continue
		}
		found = append(found, i.dependent(o, "owner "+called(goes[o.OwnerReferences[0].UID])))
	}
	return found
}

// unique sorts dependents by name, without those that are named twice.
func unique(all []dependent) []dependent {
	byName := map[string]dependent{}
	for _, s := range all {
		name := called(s.object)
		if known, exists := byName[name]; !exists || known.needs == "" {
			byName[name] = s
		}
	}
	var found []dependent
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		found = append(found, byName[name])
	}
	return found
}

// namedDependents are as many as a refusal names, with a command for each.
const namedDependents = 20

func dependentNames(all []dependent) string {
	var names []string
	for _, s := range all[:min(len(all), namedDependents)] {
		names = append(names, s.String())
	}
	text := strings.Join(names, ", ")
	if more := len(all) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// deletion returns the commands that delete the dependents that dependentNames names, one for each namespace.
func deletion(all []dependent, kubeconfig string) string {
	byNamespace := map[string][]string{}
	for _, s := range all[:min(len(all), namedDependents)] {
		byNamespace[s.Namespace] = append(byNamespace[s.Namespace], oneline.Shell(s.resource+"/"+s.Name))
	}
	var commands []string
	for _, namespace := range slices.Backward(slices.Sorted(maps.Keys(byNamespace))) { // claims before volumes
		in := ""
		if namespace != "" {
			in = " --namespace " + oneline.Shell(namespace)
		}
		commands = append(commands, "kubectl --kubeconfig "+oneline.Shell(kubeconfig)+" delete"+in+" "+
			strings.Join(byNamespace[namespace], " "))
	}
	return strings.Join(commands, "; ")
}
