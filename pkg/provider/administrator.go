package provider

import "context"

// AdministratorReader is a provider that can read, in the machines themselves, the kubeconfig of the cluster's
// administrator.
type AdministratorReader interface {
	// Administrators returns what the cluster's control-plane machines that run hold, in the order in which they were
	// made. What could not be read is an error, beside what could. Whether a kubeconfig is fit for use is for the
	// caller to check.
	Administrators(context.Context) ([]Administrator, error)
}

// Administrator is a kubeconfig that a control-plane machine holds.
type Administrator struct {
	Machine    string
	Kubeconfig []byte
	// Address is the host at which the control plane is reached where the kubeconfig names the machine's own loopback
	// address. Empty means not known.
	Address string
}
