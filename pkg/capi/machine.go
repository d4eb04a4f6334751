package capi

import (
	"context"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Machine is the content of a Machine object.
type Machine struct {
	Object
	Cluster      string
	Phase        string
	ControlPlane bool
	Deployment   string // its MachineDeployment; "" of the control plane
	Node         string // status.nodeRef, "" until the node has joined
	ProviderID   string
	Deleting     bool
	Ready        health.Condition
}

// Machines returns the Machines of a namespace. It returns none if Cluster API is not installed.
func Machines(ctx context.Context, c client.Reader, namespace string) ([]Machine, error) {
	docs, err := list[clusterv1.Machine](ctx, c, machineKind, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	machines := make([]Machine, 0, len(docs))
	for i := range docs {
		doc := &docs[i]
		_, controlPlane := doc.Labels[clusterv1.MachineControlPlaneLabel]
		machines = append(machines, Machine{
			Object: Object{
				APIVersion: clusterv1.GroupVersion.String(), Kind: machineKind.Kind,
				Namespace: doc.Namespace, Name: doc.Name, UID: doc.UID,
			},
			Cluster: doc.Spec.ClusterName, Phase: doc.Status.Phase, ControlPlane: controlPlane,
			Deployment: doc.Labels[clusterv1.MachineDeploymentNameLabel],
			Node:       doc.Status.NodeRef.Name, ProviderID: doc.Spec.ProviderID,
			Deleting: !doc.DeletionTimestamp.IsZero(),
			Ready:    health.ConditionFrom(doc.Status.Conditions, clusterv1.MachineReadyCondition, doc.Generation),
		})
	}
	return machines, nil
}
