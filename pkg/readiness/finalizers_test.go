package readiness

import "testing"

// A finalizer names the provider whose controller removes it, not only that some infrastructure provider does.
func TestWhoRemovesAFinalizer(t *testing.T) {
	for finalizer, want := range map[string]string{
		"dockermachine.infrastructure.cluster.x-k8s.io":   "the controller of CAPD",
		"devcluster.infrastructure.cluster.x-k8s.io":      "the controller of CAPD",
		"openstackserver.infrastructure.cluster.x-k8s.io": "the controller of CAPO",
		"awscluster.infrastructure.cluster.x-k8s.io":      "the controller of CAPA",
		"awsmachine.infrastructure.cluster.x-k8s.io":      "the controller of CAPA",
		"vspherecluster.infrastructure.cluster.x-k8s.io":  "the infrastructure provider's controller",
		"openstack.k-orc.cloud/image":                     "the controller of ORC",
		"kubeadm.controlplane.cluster.x-k8s.io":           "the controller of KubeadmControlPlane",
		"machine.cluster.x-k8s.io":                        "a controller of Cluster API",
		"example.org/keep":                                "whoever set it",
	} {
		if got := finalizerOwner(finalizer); got != want {
			t.Errorf("%s: %s, want %s", finalizer, got, want)
		}
	}
}
