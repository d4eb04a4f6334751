package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// deleteApplied deletes what Flux applied for the cluster in its namespace and what the Cluster did not own: server
// groups, credentials, releases of charts. Secrets are last: controllers may need them to delete the rest.
func (d Deletion) deleteApplied(ctx context.Context, report pipeline.Reporter) error {
	applied, err := d.applied(ctx)
	if err != nil {
		return err
	}
	charts, err := d.chartReleases(ctx) // a chart that was disabled later is in no inventory
	if err != nil {
		return err
	}
	kindOf := func(o client.Object) string { return o.GetObjectKind().GroupVersionKind().Kind }
	applied = append(slices.DeleteFunc(applied, func(o client.Object) bool {
		return kindOf(o) == helmv2.HelmReleaseKind && d.Key.isChart(o.GetName())
	}), charts...)
	isSecret := func(o client.Object) bool { return kindOf(o) == "Secret" }
	secrets := slices.DeleteFunc(slices.Clone(applied), func(o client.Object) bool { return !isSecret(o) })
	others := slices.DeleteFunc(applied, isSecret)
	for _, objects := range [][]client.Object{others, secrets} {
		for _, o := range objects {
			if err := client.IgnoreNotFound(d.Management.Delete(ctx, o)); err != nil {
				return fmt.Errorf("delete %s: %w", describe(o), err)
			}
		}
		if err := d.awaitEnd(ctx, objects, report); err != nil {
			return err
		}
	}
	return nil
}

// applied returns the objects in the inventories of the release's Kustomizations that exist in this cluster, in the
// cluster's namespace.
func (d Deletion) applied(ctx context.Context) ([]client.Object, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kustomizev1.GroupVersion.WithKind(kustomizev1.KustomizationKind + "List"))
	if err := d.Management.List(ctx, list, client.InNamespace(d.Key.Namespace)); err != nil {
		return nil, fmt.Errorf("list the Kustomizations of workload cluster %s: %w", d.Key, err)
	}
	var found []client.Object
	for i := range list.Items {
		k := &list.Items[i]
		if !d.Key.made(k) {
			continue
		}
		for _, ref := range health.Inventory(k) {
			o, err := d.existing(ctx, ref)
			if err != nil {
				return nil, err
			}
			if o != nil {
				found = append(found, o)
			}
		}
	}
	return found, nil
}

// existing returns an object, without its content. It is nil if it does not exist or is in another namespace.
func (d Deletion) existing(ctx context.Context, ref health.Ref) (client.Object, error) {
	if ref.Namespace != d.Key.Namespace {
		return nil, nil
	}
	mapping, err := d.Management.RESTMapper().RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the kind of %s: %w", ref, err)
	}
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(mapping.GroupVersionKind)
	switch err := d.Management.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, o); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", ref, err)
	}
	return o, nil
}

// awaitEnd waits until objects are gone, and reports what it waits for when that changes.
func (d Deletion) awaitEnd(ctx context.Context, objects []client.Object, report pipeline.Reporter) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last := ""
	for {
		var left []string
		for _, o := range objects {
			err := d.Management.Get(ctx, client.ObjectKeyFromObject(o), o)
			if err != nil && !apierrors.IsNotFound(err) && ctx.Err() == nil {
				return fmt.Errorf("read %s: %w", describe(o), err)
			}
			if err == nil {
				left = append(left, describe(o))
			}
		}
		if len(left) == 0 && ctx.Err() == nil {
			return nil
		}
		if names := strings.Join(left, ", "); names != last {
			report.Waiting("the deletion of "+names, nil)
			last = names
		}
		select {
		case <-ctx.Done():
			return fault.Retryable(fmt.Errorf("%s is not gone yet: %w", last, ctx.Err()),
				fault.ComponentStuck, "Run the same command again, and check the finalizers of the object if it stays.")
		case <-tick.C:
		}
	}
}

func describe(o client.Object) string {
	return o.GetObjectKind().GroupVersionKind().Kind + " " + client.ObjectKeyFromObject(o).String()
}
