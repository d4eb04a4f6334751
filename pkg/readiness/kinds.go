package readiness

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// ownGroups are the API groups of which every kind is read, also those of unknown providers: Flux, Cluster API, and
// their dependencies.
func ownGroups() []string {
	return []string{"toolkit.fluxcd.io", "cluster.x-k8s.io", "cert-manager.io", "k-orc.cloud"}
}

// builtInKinds are the kinds of Kubernetes that components consist of or use, without CustomResourceDefinitions.
func builtInKinds() []kube.Served {
	var kinds []kube.Served
	add := func(group string, namespaced bool, names ...string) {
		for i := 0; i < len(names); i += 2 {
			kinds = append(kinds, kube.Served{Resource: schema.GroupVersionResource{Group: group, Version: "v1",
				Resource: names[i+1]}, Kind: names[i], Namespaced: namespaced})
		}
	}
	add("", false, "Node", "nodes", "Namespace", "namespaces")
	add("", true, "Pod", "pods", "PersistentVolumeClaim", "persistentvolumeclaims", "Service", "services")
	add("apps", true, "Deployment", "deployments", "DaemonSet", "daemonsets", "StatefulSet", "statefulsets",
		"ReplicaSet", "replicasets")
	add("batch", true, "Job", "jobs", "CronJob", "cronjobs")
	add("coordination.k8s.io", true, "Lease", "leases")
	add("discovery.k8s.io", true, "EndpointSlice", "endpointslices")
	add("networking.k8s.io", true, "NetworkPolicy", "networkpolicies")
	add("admissionregistration.k8s.io", false, "ValidatingWebhookConfiguration",
		"validatingwebhookconfigurations", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations")
	add("apiregistration.k8s.io", false, "APIService", "apiservices")
	add("storage.k8s.io", false, "StorageClass", "storageclasses")
	add("rbac.authorization.k8s.io", false, "ClusterRoleBinding", "clusterrolebindings")
	add("rbac.authorization.k8s.io", true, "RoleBinding", "rolebindings")
	return kinds
}

func definitionKind() kube.Served {
	return kube.Served{Resource: schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}, Kind: "CustomResourceDefinition"}
}

// namedKinds are those of which only the metadata is read: existence is enough, and no secret is fetched for it.
func namedKinds() []kube.Served {
	core := schema.GroupVersion{Version: "v1"}
	rbac := schema.GroupVersion{Group: "rbac.authorization.k8s.io", Version: "v1"}
	return []kube.Served{
		{Resource: core.WithResource("secrets"), Kind: "Secret", Namespaced: true},
		{Resource: core.WithResource("configmaps"), Kind: "ConfigMap", Namespaced: true},
		{Resource: core.WithResource("serviceaccounts"), Kind: "ServiceAccount", Namespaced: true},
		{Resource: rbac.WithResource("clusterroles"), Kind: "ClusterRole"},
		{Resource: rbac.WithResource("roles"), Kind: "Role", Namespaced: true},
	}
}
