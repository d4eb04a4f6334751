// Package selfmanaged says whether a management cluster manages itself: whether it holds its own definition, consists
// of its own Machines, and its controllers and its Flux have acted on what it holds. It reads that cluster alone.
package selfmanaged

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
)

// Aspect names one part of a management cluster that manages itself.
type Aspect string

// The aspects of self-management, in the order in which they usually come true.
const (
	AspectCluster       Aspect = "cluster"       // its Cluster is in its own API, active and Available
	AspectControlPlane  Aspect = "control-plane" // its control plane object is Available
	AspectMachines      Aspect = "machines"      // its Machines are ready
	AspectNodes         Aspect = "nodes"         // the node of each Machine is a ready node of this same API
	AspectKustomization Aspect = "kustomization" // Flux has applied its definition
	AspectControllers   Aspect = "controllers"   // each controller has reconciled the current state of its objects
	// nothing keeps the cluster from acting, whatever its objects report
	AspectHealth Aspect = "health"
)

// Unmet is one unmet condition of a management cluster that is to manage itself.
type Unmet struct {
	Aspect  Aspect
	Object  string // "Kind namespace/name"
	Message string
	// Waiting is true when time alone may fix it. False means that a person must act.
	Waiting bool
}

// String returns the object with its unmet condition.
func (u Unmet) String() string { return u.Object + ": " + u.Message }

// Check checks, in the API of a management cluster, what is still missing until the cluster manages itself. An
// empty result means that it does. It checks once and does not wait.
//
// kustomizations are the Flux Kustomizations that must be Ready. None means all of the cluster's, and there must be at
// least one. A Kustomization is Ready only if its status is of its latest spec.
//
// The controllers are checked last, when nothing else is unmet: that check reads every object, and needs all other
// conditions.
func Check(ctx context.Context, target client.Client, scope clusters.Scope, kustomizations []client.ObjectKey) (
	[]Unmet, error) {
	var all []Unmet
	for _, look := range []func() ([]Unmet, error){
		func() ([]Unmet, error) { return checkCluster(ctx, target, scope) },
		func() ([]Unmet, error) { return checkMachines(ctx, target, scope) },
		func() ([]Unmet, error) { return checkKustomizations(ctx, target, kustomizations) },
		func() ([]Unmet, error) {
			if len(all) > 0 {
				return nil, nil
			}
			return Controllers(ctx, target, scope)
		},
	} {
		unmet, err := look()
		if err != nil {
			return nil, fmt.Errorf("see whether the management cluster manages itself: %w", err)
		}
		all = append(all, unmet...)
	}
	return all, nil
}

func checkCluster(ctx context.Context, c client.Client, scope clusters.Scope) ([]Unmet, error) {
	own, err := clusters.Own(ctx, c, scope)
	if err != nil {
		return nil, err
	}
	if own == nil {
		return []Unmet{absentCluster(scope)}, nil
	}
	var unmet []Unmet
	if own.Paused {
		unmet = append(unmet, Unmet{Aspect: AspectCluster, Object: own.String(), Message: "is paused"})
	}
	if own.Deleting {
		unmet = append(unmet, Unmet{Aspect: AspectCluster, Object: own.String(), Message: "is being deleted"})
	}
	if !own.Available.True() {
		unmet = append(unmet, Unmet{Aspect: AspectCluster, Object: own.String(), Message: own.Available.String(),
			Waiting: true})
	}
	more, err := checkControlPlane(ctx, c, own)
	return append(unmet, more...), err
}

func absentCluster(scope clusters.Scope) Unmet {
	return Unmet{Aspect: AspectCluster, Object: fmt.Sprintf("Cluster %s/%s", scope.Namespace, scope.Cluster),
		Message: "is not in its own API"}
}

func checkControlPlane(ctx context.Context, c client.Client, own *capi.Cluster) ([]Unmet, error) {
	if own.ControlPlane == nil {
		return []Unmet{{Aspect: AspectControlPlane, Object: own.String(), Message: "names no control plane object"}},
			nil
	}
	name := fmt.Sprintf("%s %s/%s", own.ControlPlane.Kind, own.Namespace, own.ControlPlane.Name)
	plane, err := capi.ReadControlPlane(ctx, c, own.Namespace, *own.ControlPlane)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return []Unmet{{Aspect: AspectControlPlane, Object: name, Message: "does not exist", Waiting: true}}, nil
	case err != nil:
		return nil, err
	case !plane.Available.True():
		return []Unmet{{Aspect: AspectControlPlane, Object: name, Message: plane.Available.String(), Waiting: true}},
			nil
	}
	return nil, nil
}
