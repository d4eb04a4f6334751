package plan

// OpenStackMachines is the image of the containers that stand for servers of OpenStack; its tag is the version of
// Kubernetes.
const OpenStackMachines = "cluster-init.io/lab/openstack-node"
