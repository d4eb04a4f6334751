package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot/record"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// restoration is one restore, with the last observation of the target.
type restoration struct {
	input  Input
	digest record.Digester
	record []record.Entry // the objects of the backup
	now    targetState
	stage  Stage

	releases   []releaseObject              // the objects of the section Workload, in the order of their creation
	namespaces []*unstructured.Unstructured // of workload clusters, that exist on the target
	appliers   rollout.Appliers             // of the target; empty if the restore creates no release
}

func (r *restoration) reasons() []string { return r.now.reasons() }

// observe reads what the target holds of the backup, and decides the stage.
func (r *restoration) observe(ctx context.Context) error {
	graph, err := capi.Discover(ctx, r.input.Target.Client, r.input.Backup.Manifest.Namespaces()...)
	if err != nil {
		return fmt.Errorf("read the target: %w", err)
	}
	byKey := map[capi.Key]capi.Object{}
	for _, o := range graph.All() {
		byKey[o.Key()] = o
	}
	s := targetState{}
	found := map[capi.Key]*unstructured.Unstructured{}
	for _, want := range r.record {
		o, known := byKey[want.Object().Key()]
		u, _ := graph.Get(o)
		if !known {
			if u, err = r.readOtherNamespace(ctx, want); err != nil {
				return err
			}
		}
		found[want.Object().Key()] = u
		s.place(want, u)
	}
	for _, want := range r.record {
		s.objects = append(s.objects, r.compare(want, found[want.Object().Key()], graph, s.resumed()))
	}
	for _, o := range s.objects {
		if o.Shared && len(o.wrong) > 0 {
			s.shared = append(s.shared, o.String()+" "+strings.Join(o.wrong, " and ")+" than in the backup")
		}
	}
	r.now, r.stage = s, judge(s)
	return nil
}

// readOtherNamespace reads an object of another namespace, which the graph may not include. Nil means that it does not
// exist.
func (r *restoration) readOtherNamespace(ctx context.Context, want record.Entry) (*unstructured.Unstructured, error) {
	if r.input.inNamespaces(want.Namespace) {
		return nil, nil
	}
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(want.APIVersion)
	u.SetKind(want.Kind)
	err := r.input.Target.Client.Get(ctx, client.ObjectKey{Namespace: want.Namespace, Name: want.Name}, u)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s on the target: %w", want, err)
	}
	return u, nil
}

// place sorts Clusters by whether they are active, and by who paused them. Of ClusterClasses it keeps only those that a
// restore paused.
func (s *targetState) place(want record.Entry, u *unstructured.Unstructured) {
	group := want.Object().Key().Group
	if u == nil || group != clusterv1.GroupVersion.Group {
		return
	}
	value, annotated := u.GetAnnotations()[clusterv1.PausedAnnotation]
	paused, _, _ := unstructured.NestedBool(u.Object, "spec", "paused")
	switch o := want.Object(); {
	case want.Kind == clusterv1.ClusterClassKind && value == owned.RestoringMark:
		s.pausedByRestore = append([]capi.Object{o}, s.pausedByRestore...) // before the Clusters that use it
	case want.Kind != clusterv1.ClusterKind:
	case annotated && value == owned.RestoringMark:
		s.pausedByRestore = append(s.pausedByRestore, o)
	case annotated || paused:
		s.pausedByOthers = append(s.pausedByOthers, o)
	default:
		s.active = append(s.active, o)
	}
}

// compare compares an object of the target with the backup.
func (r *restoration) compare(want record.Entry, u *unstructured.Unstructured, graph *capi.Graph,
	running bool) targetObject {
	o := targetObject{Entry: want, exists: u != nil}
	if u == nil {
		return o
	}
	for _, part := range want.Missing(r.digest.Parts(u), running) {
		o.wrong = append(o.wrong, "has another "+part)
	}
	if want.Shared {
		return o
	}
	if len(graph.Dangling([]capi.Object{capi.ObjectOf(u)})) > 0 && r.input.inNamespaces(want.Namespace) {
		o.wrong = append(o.wrong, "has an owner that does not exist")
	}
	if u.GetDeletionTimestamp() != nil && !(running && want.Passing) {
		o.wrong = append(o.wrong, "is being deleted")
	}
	return o
}

// inNamespaces reports whether a namespace is one of those that the clusters of the backup are in.
func (input Input) inNamespaces(namespace string) bool {
	return slices.Contains(input.Backup.Manifest.Namespaces(), namespace)
}

// clusters returns the Clusters of the backup.
func (input Input) clusters() []capi.Object {
	var all []capi.Object
	for _, u := range input.Backup.Section(backup.Objects) {
		if o := capi.ObjectOf(u); o.Kind == clusterv1.ClusterKind && isPausable(o) {
			all = append(all, o)
		}
	}
	return all
}

// isPausable reports whether an object is a Cluster or a ClusterClass. Pausing these pauses all of their objects.
func isPausable(o capi.Object) bool {
	return o.Key().Group == clusterv1.GroupVersion.Group &&
		(o.Kind == clusterv1.ClusterKind || o.Kind == clusterv1.ClusterClassKind)
}

// prepared returns the objects to create, without the marks of earlier moves. clusterctl resumes Clusters as soon as
// all objects exist, but ignores their annotation. The annotation keeps the Clusters paused until all objects were
// compared.
func (r *restoration) prepared() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	for _, u := range r.input.Backup.Section(backup.Objects) {
		u = u.DeepCopy()
		annotations := u.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		for _, mark := range []string{owned.VerifiedAnnotation, owned.MachinesAnnotation, owned.PivotAnnotation,
			clusterctlv1.DeleteForMoveAnnotation} {
			delete(annotations, mark)
		}
		if isPausable(capi.ObjectOf(u)) {
			annotations[clusterv1.PausedAnnotation] = owned.RestoringMark
		}
		u.SetAnnotations(annotations)
		all = append(all, u)
	}
	return all
}
