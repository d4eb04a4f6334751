package rollout

import "k8s.io/apimachinery/pkg/runtime/schema"

func resource(group, version, plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

// fluxResources are the kinds of Flux that report the state of a cluster's components.
func fluxResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		resource("source.toolkit.fluxcd.io", "v1", "ocirepositories"),
		resource("source.toolkit.fluxcd.io", "v1", "gitrepositories"),
		resource("source.toolkit.fluxcd.io", "v1", "helmrepositories"),
		resource("source.toolkit.fluxcd.io", "v1", "helmcharts"),
		resource("helm.toolkit.fluxcd.io", "v2", "helmreleases"),
		resource("kustomize.toolkit.fluxcd.io", "v1", "kustomizations"),
	}
}

const controlPlaneGroup = "controlplane.cluster.x-k8s.io"

// clusterResources are the kinds of Cluster API that report the state of a management cluster.
func clusterResources() []schema.GroupVersionResource {
	return []schema.GroupVersionResource{
		resource("cluster.x-k8s.io", "v1beta2", "clusters"),
		resource("cluster.x-k8s.io", "v1beta2", "machines"),
		resource("cluster.x-k8s.io", "v1beta2", "machinedeployments"),
		resource(controlPlaneGroup, "v1beta2", "kubeadmcontrolplanes"),
		resource(controlPlaneGroup, "", "rke2controlplanes"), // in the version that its provider serves
	}
}
