package plan

// The images of the containers that stand for servers of OpenStack; their tag is the version of Kubernetes.
const (
	// OpenStackMachines has what kubeadm makes a node of.
	OpenStackMachines = "cluster-init.io/lab/openstack-node"
	// OpenStackStandinMachines has the stand-in for RKE2, too.
	OpenStackStandinMachines = "cluster-init.io/lab/openstack-rke2-standin-node"
	// OpenStackStockMachines has nothing of Kubernetes. A test makes it in the engine.
	OpenStackStockMachines = "cluster-init.io/e2e/openstack-stock:none"
)

// KeepalivedImage is the image that holds the virtual address of an API server, from Debian's packages. Machines pull
// it from the registry of the environment.
const KeepalivedImage = "ghcr.io/cluster-init/lab-keepalived:v1"

// UsesKeepalived reports whether machines of one of the environments can run it: those of kubeadm on OpenStack.
func UsesKeepalived(environments []string) bool { return Uses(environments, Kubeadm, OpenStack) }
