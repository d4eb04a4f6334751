package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// networks are the ranges of the pods and services of a management cluster.
type networks struct {
	ranges  []string
	unknown []string // which further ranges there may be, and why they are not known
}

// networksOf returns the networks of the management cluster. self is its Cluster, nil for an existing cluster of
// `install`: then the cluster itself is asked.
func networksOf(ctx context.Context, management *kube.Cluster, self *clusterv1.Cluster) (networks, error) {
	if self == nil {
		return askNetworks(ctx, management)
	}
	return networks{ranges: slices.Concat(self.Spec.ClusterNetwork.Pods.CIDRBlocks,
		self.Spec.ClusterNetwork.Services.CIDRBlocks)}, nil
}

// askNetworks reads the ranges in the configuration of kubeadm, in ServiceCIDRs, and at the nodes. A range at a node is
// a part of that of all pods, which only kubeadm records.
func askNetworks(ctx context.Context, management *kube.Cluster) (networks, error) {
	pods, services, err := kubeadmNetworks(ctx, management)
	if err != nil {
		return networks{}, err
	}
	found := networks{ranges: slices.Concat(pods, services)}
	more, err := serviceRanges(ctx, management)
	if err != nil {
		return networks{}, err
	}
	found.ranges = append(found.ranges, more...)
	if len(services)+len(more) == 0 {
		found.unknown = append(found.unknown, "service range: the cluster has neither ServiceCIDRs nor a "+
			"configuration of kubeadm")
	}
	var nodes corev1.NodeList
	if err := management.List(ctx, &nodes); err != nil {
		return networks{}, fmt.Errorf("list the nodes of the management cluster, for their networks: %w", err)
	}
	for _, node := range nodes.Items {
		found.ranges = append(found.ranges, node.Spec.PodCIDRs...)
	}
	if len(pods) == 0 {
		found.unknown = append(found.unknown, "pod range: the cluster has no configuration of kubeadm with podSubnet")
	}
	slices.Sort(found.ranges)
	found.ranges = slices.Compact(found.ranges)
	return found, nil
}

// kubeadmNetworks returns the ranges that kubeadm has stored in the cluster; none if another tool made it.
func kubeadmNetworks(ctx context.Context, management *kube.Cluster) (pods, services []string, err error) {
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kubeadm-config"}}
	exists, err := management.Exists(ctx, stored)
	if err != nil || !exists {
		return nil, nil, err
	}
	var configuration struct {
		Networking struct {
			PodSubnet     string `json:"podSubnet"`
			ServiceSubnet string `json:"serviceSubnet"`
		} `json:"networking"`
	}
	if err := yaml.Unmarshal([]byte(stored.Data["ClusterConfiguration"]), &configuration); err != nil {
		return nil, nil, fmt.Errorf("read the ConfigMap kube-system/kubeadm-config of the management cluster: %w", err)
	}
	split := func(ranges string) []string {
		return strings.FieldsFunc(ranges, func(r rune) bool { return r == ',' || r == ' ' })
	}
	return split(configuration.Networking.PodSubnet), split(configuration.Networking.ServiceSubnet), nil
}

// serviceRanges returns the ranges of ServiceCIDRs. An API server before Kubernetes 1.33 serves none.
func serviceRanges(ctx context.Context, management *kube.Cluster) ([]string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1",
		Kind: "ServiceCIDRList"})
	err := management.List(ctx, list)
	switch {
	case kube.NotServed(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list the ServiceCIDRs of the management cluster: %w", err)
	}
	var ranges []string
	for _, o := range list.Items {
		cidrs, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "cidrs")
		ranges = append(ranges, cidrs...)
	}
	return ranges, nil
}

// checkNetworks refuses a network of machines that overlaps with the pods or services of the management cluster: its
// controllers, which are pods, could not reach them. It warns of ranges that are not known.
func (c Cluster) checkNetworks(ctx context.Context, self *clusterv1.Cluster, report pipeline.Reporter) error {
	if len(c.Machines) == 0 {
		return nil
	}
	known, err := networksOf(ctx, c.Management, self)
	if err != nil {
		return err
	}
	for _, what := range known.unknown {
		report.Warn("not checked: whether the machines' network overlaps with the management cluster's %s", what)
	}
	var problems []error
	for _, machines := range c.Machines {
		for _, cidr := range known.ranges {
			if overlap(machines.CIDR, cidr) {
				problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s %s overlaps with %s of the "+
					"management cluster %s", machines.Path, machines.CIDR, cidr, c.Self),
					"Choose another range for "+machines.Path+", so that the management cluster's controllers can "+
						"reach the machines."))
			}
		}
	}
	return fault.Join(problems...)
}
