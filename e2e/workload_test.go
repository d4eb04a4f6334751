//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

const workloadName = "workload"

// workload makes a cluster of one machine from the management cluster, sees its API server answer, and deletes it.
func (c cluster) workload(t *testing.T, l lab) {
	b := l.openBundle(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: workloadName}}
	if err := c.ApplyAll(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	for _, o := range workloadObjects(b.Index.NodeImage, b.Index.KubernetesVersion) {
		if err := c.ApplyAll(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: workloadName, Name: workloadName + "-kubeconfig"}}
	eventually(t, "the workload cluster's API server has a node", 5*time.Minute, func(ctx context.Context) bool {
		if c.Get(ctx, client.ObjectKeyFromObject(secret), secret) != nil {
			return false
		}
		w, err := kube.Connect(workloadName, secret.Data["value"], clientgoscheme.Scheme)
		if err != nil || w.Reachable(ctx) != nil {
			return false
		}
		var nodes corev1.NodeList
		return w.List(ctx, &nodes) == nil && len(nodes.Items) == 1
	})
	own := object("cluster.x-k8s.io/v1beta2", "Cluster", workloadName, workloadName, nil)
	if err := c.Delete(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the workload cluster is deleted", 5*time.Minute, func(ctx context.Context) bool {
		exists, err := c.Exists(ctx, own)
		return err == nil && !exists
	})
	if left := containers(t, "io.x-k8s.kind.cluster="+workloadName); len(left) > 0 {
		t.Errorf("containers left: %v", left)
	}
	if err := c.Delete(t.Context(), namespace); err != nil {
		t.Error(err)
	}
}

func workloadObjects(image, version string) []*unstructured.Unstructured {
	machine := map[string]any{"backend": map[string]any{"docker": map[string]any{"customImage": image}}}
	return []*unstructured.Unstructured{
		object("infrastructure.cluster.x-k8s.io/v1beta2", "DevCluster", workloadName, workloadName,
			map[string]any{"backend": map[string]any{"docker": map[string]any{}}}),
		object("infrastructure.cluster.x-k8s.io/v1beta2", "DevMachineTemplate", workloadName, workloadName,
			map[string]any{"template": map[string]any{"spec": machine}}),
		object("controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane", workloadName, workloadName,
			map[string]any{
				"replicas": int64(1), "version": version,
				"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{
					"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevMachineTemplate",
					"name": workloadName}}},
				"kubeadmConfigSpec": map[string]any{
					"initConfiguration": map[string]any{"patches": map[string]any{"directory": "/etc/kubernetes/patches"}},
					"files":             []any{map[string]any{"path": "/etc/kubernetes/patches/kubeletconfiguration0+strategic.json", "content": `{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","failCgroupV1":false,"failSwapOn":false}`}},
				},
			}),
		object("cluster.x-k8s.io/v1beta2", "Cluster", workloadName, workloadName, map[string]any{
			"clusterNetwork": map[string]any{"pods": map[string]any{"cidrBlocks": []any{"10.244.0.0/16"}},
				"services": map[string]any{"cidrBlocks": []any{"10.96.0.0/16"}}},
			"controlPlaneRef": map[string]any{"apiGroup": "controlplane.cluster.x-k8s.io",
				"kind": "KubeadmControlPlane", "name": workloadName},
			"infrastructureRef": map[string]any{"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster",
				"name": workloadName},
		}),
	}
}
