// Package benchmark checks a cluster against published recommendations that are about arguments of its components.
package benchmark

// Profile is a value of cluster.security_profile.
type Profile string

// The profiles that have checks.
const (
	CIS  Profile = "cis"
	STIG Profile = "stig"
)

// Name returns the published benchmark whose identifiers the checks of a profile have. Empty means that it has none.
func (p Profile) Name() string {
	return map[Profile]string{CIS: "CIS Kubernetes Benchmark v1.12", STIG: "Kubernetes STIG (DISA)"}[p]
}

// Checks returns the table of a profile, in the order of its benchmark.
func (p Profile) Checks() []Check {
	switch p {
	case CIS:
		return cis()
	case STIG:
		return stig()
	}
	return nil
}

// Component is a part of Kubernetes.
type Component string

// The components that have checks.
const (
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kubelet           Component = "kubelet"
)

// Check is one recommendation about one argument.
type Check struct {
	ID        string // in the benchmark
	Component Component
	Argument  string // without dashes
	// Want says what holds, for people.
	Want string
	// Set reports that security_profile sets the argument. Otherwise it is up to kubeadm and RKE2.
	Set   bool
	holds func(value string, given bool) bool
}
