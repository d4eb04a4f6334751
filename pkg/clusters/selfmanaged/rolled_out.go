package selfmanaged

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/health"
)

// RolledOut finds, in the API of a management cluster, machines that are still to be created, replaced or deleted.
// During a rolling replacement all machines are ready between two replacements, so Check alone does not see the
// rest. RolledOut leaves out what waits for a person: what is paused, and machines that are replaced only when a person
// deletes them.
func RolledOut(ctx context.Context, target client.Client, scope clusters.Scope) ([]Unmet, error) {
	unmet, err := rolledOut(ctx, target, scope)
	if err != nil {
		return nil, fmt.Errorf("see whether all machines are as they should be: %w", err)
	}
	return unmet, nil
}

func rolledOut(ctx context.Context, target client.Client, scope clusters.Scope) ([]Unmet, error) {
	own, err := clusters.Own(ctx, target, scope)
	if err != nil {
		return nil, err
	}
	if own == nil {
		return []Unmet{absentCluster(scope)}, nil
	}
	graph, err := capi.DiscoverServed(ctx, target, scope.Namespace)
	if err != nil {
		return nil, err
	}
	m := machinery{graph: graph, own: clusters.OwnObjects(graph, scope)}
	plane, err := m.controlPlane(ctx, target, own)
	return append(plane, m.workers()...), err
}

// machinery is what creates, replaces and deletes the machines of one Cluster.
type machinery struct {
	graph *capi.Graph
	own   []capi.Object
}

// controlPlane uses the Cluster's counts: the Cluster also understands the counts of control planes of older contracts.
func (m machinery) controlPlane(ctx context.Context, target client.Client, own *capi.Cluster) ([]Unmet, error) {
	parts := slices.DeleteFunc(slices.Clone(m.own), func(o capi.Object) bool {
		u, _ := m.graph.Get(o)
		_, machine := u.GetLabels()[clusterv1.MachineControlPlaneLabel]
		return !strings.HasSuffix(o.Kind, "ControlPlane") && (o.Kind != "Machine" || !machine)
	})
	if own.ControlPlane == nil || m.paused(parts) {
		return nil, nil
	}
	var unmet []Unmet
	if replicas := own.ControlPlaneReplicas; replicas != nil {
		unmet = m.missing(AspectControlPlane, own.Object, *replicas, parts)
	}
	plane, err := capi.ReadControlPlane(ctx, target, own.Namespace, *own.ControlPlane)
	if err != nil {
		return nil, err
	}
	// the Cluster's count may be outdated: RKE2 does not report that none is up to date
	if old := plane.SpecUpToDate; old.Status == "False" {
		unmet = append(unmet, Unmet{Aspect: AspectControlPlane, Object: plane.String(), Message: old.String(),
			Waiting: true})
	}
	return unmet, nil
}

// workers uses the counts of each pool: one pool whose machines wait for a person says nothing of the others. No
// controller replaces machines without a pool.
func (m machinery) workers() []Unmet {
	var unmet []Unmet
	for _, o := range m.own {
		u, _ := m.graph.Get(o)
		alone := o.Kind == "MachineSet" &&
			slices.ContainsFunc(m.own, func(owner capi.Object) bool {
				return owner.Kind == clusterv1.ClusterKind &&
					owns(u, owner)
			})
		if o.Kind != "MachineDeployment" && o.Kind != "MachinePool" && !alone {
			continue
		}
		below := m.graph.Below(o)
		if m.paused(below) {
			continue
		}
		replicas := m.graph.Observed(o).Replicas
		if alone || health.LeftAsIs(u) {
			replicas.UpToDate = replicas.Desired // a person deletes those that are not
		}
		unmet = append(unmet, m.missing(AspectMachines, o, replicas, below)...)
	}
	return unmet
}

// paused reports whether one of these objects is paused, so that what it creates or replaces stays unchanged.
func (m machinery) paused(objects []capi.Object) bool {
	return slices.ContainsFunc(objects, func(o capi.Object) bool {
		u, _ := m.graph.Get(o)
		return health.Paused(u)
	})
}

// missing returns what o still has to do until it has the desired number of machines of its latest spec. No controller
// replaces a machine only because its node has another version.
func (m machinery) missing(aspect Aspect, o capi.Object, replicas health.Replicas, below []capi.Object) []Unmet {
	for _, machine := range below {
		if health.OtherVersion(m.graph.Observed(machine).UpToDate) {
			replicas.UpToDate++
		}
	}
	_, message := replicas.Missing()
	if message == "" {
		return nil
	}
	if replicas.Ready >= replicas.Desired {
		message += m.whyOld(below)
	}
	return []Unmet{{Aspect: aspect, Object: o.String(), Message: message, Waiting: true}}
}

// whyOld returns the first reason that an outdated one of these Machines reports; "" if none does.
func (m machinery) whyOld(below []capi.Object) string {
	for _, machine := range below {
		current := m.graph.Observed(machine).UpToDate
		if current.Status == "False" && current.Message != "" && !health.OtherVersion(current) {
			return fmt.Sprintf(" (%s: %s)", machine.Name, strings.Join(strings.Fields(current.Message), " "))
		}
	}
	return ""
}

func owns(u *unstructured.Unstructured, owner capi.Object) bool {
	for _, ref := range u.GetOwnerReferences() {
		if ref.UID == owner.UID {
			return true
		}
	}
	return false
}
