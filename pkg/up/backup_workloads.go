package up

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/pivot"
	"github.com/cluster-init/cluster-init/pkg/rollout"
)

// LeftOut is a workload cluster of which a backup does not have everything, or an object of a cluster that it lacks.
type LeftOut struct {
	Cluster string `json:"cluster,omitempty"` // as namespace/name
	Object  string `json:"object,omitempty"`  // as kind namespace/name
	Reason  string `json:"reason"`
}

// String returns what is left out, and why.
func (l LeftOut) String() string {
	if l.Object != "" {
		return l.Object + ": " + l.Reason
	}
	return "workload cluster " + l.Cluster + ": " + l.Reason
}

// backupWorkloads reads what a backup holds of the clusters that a management cluster manages besides itself: those
// with a release, and all of other namespaces. A namespace with a cluster that is paused or being deleted is left
// out, as a restore would resume what a person has paused.
func backupWorkloads(ctx context.Context, management *kube.Cluster, scope clusters.Scope) (more pivot.Extent,
	left []LeftOut, err error) {
	others, err := clusters.Others(ctx, management, scope)
	if err != nil {
		return more, nil, err
	}
	releases, err := rollout.Labelled(ctx, management, owned.WorkloadLabel)
	if err != nil {
		return more, nil, err
	}
	unsteady := unsteadyNamespaces(others)
	for _, c := range others {
		key := client.ObjectKey{Namespace: c.Namespace, Name: c.Name}
		hasRelease := slices.Contains(releases, key)
		releases = slices.DeleteFunc(releases, func(other client.ObjectKey) bool { return other == key })
		reason, reserved := unsteady[c.Namespace], backup.ReservedNamespace(c.Namespace)
		switch isOwn := c.Namespace == scope.Namespace; {
		case reserved && (hasRelease || !isOwn):
			left = append(left, LeftOut{Cluster: key.String(), Reason: "its namespace belongs to Kubernetes or Flux"})
			continue
		case reason != "" && !isOwn:
			left = append(left, LeftOut{Cluster: key.String(), Reason: reason})
			continue
		}
		var inputs, named []*unstructured.Unstructured
		if hasRelease {
			inputs, named, err = readRelease(ctx, management, key)
			switch {
			case apierrors.IsNotFound(err):
				left = append(left, LeftOut{Cluster: key.String(), Reason: "its release is incomplete: " + err.Error()})
				hasRelease = false
			case err != nil:
				return more, nil, err
			}
		}
		if !hasRelease && c.Namespace == scope.Namespace {
			continue
		}
		more.Workloads = append(more.Workloads, backup.WorkloadCluster{Namespace: c.Namespace, Cluster: c.Name,
			ManagedBy: scope.Namespace + "/" + scope.Cluster, Release: hasRelease})
		more.Releases, more.Named = append(more.Releases, inputs...), append(more.Named, named...)
	}
	for _, key := range releases {
		left = append(left, LeftOut{Cluster: key.String(), Reason: "its Cluster does not exist"})
	}
	slices.SortFunc(more.Workloads, func(a, b backup.WorkloadCluster) int {
		return strings.Compare(a.String(), b.String())
	})
	slices.SortFunc(left, func(a, b LeftOut) int { return strings.Compare(a.Cluster, b.Cluster) })
	more.Releases = eachOnce(more.Releases)
	return more, left, nil
}

// readRelease returns the inputs of a release, and the Secrets and ConfigMaps that its components name.
func readRelease(ctx context.Context, c client.Reader, key client.ObjectKey) (inputs,
	named []*unstructured.Unstructured, err error) {
	if inputs, err = rollout.InputsOf(ctx, c, key); err != nil {
		return nil, nil, err
	}
	if named, err = componentInputs(ctx, c, key); err != nil {
		return nil, nil, err
	}
	return inputs, named, nil
}

// unsteadyNamespaces returns the namespaces with a Cluster that is paused or being deleted, and names it.
func unsteadyNamespaces(all []capi.Cluster) map[string]string {
	reasons := map[string]string{}
	for _, c := range all {
		switch {
		case c.Deleting:
			reasons[c.Namespace] = c.String() + " is being deleted"
		case c.Paused:
			reasons[c.Namespace] = c.String() + " is paused"
		}
	}
	return reasons
}

// eachOnce returns the objects without duplicates: releases of one namespace may share a source.
func eachOnce(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	seen := map[capi.Key]bool{}
	return slices.DeleteFunc(objects, func(u *unstructured.Unstructured) bool {
		key := capi.ObjectOf(u).Key()
		repeated := seen[key]
		seen[key] = true
		return repeated
	})
}
