package provider

import "context"

// AdministratorReader is a provider that can read the administrator's kubeconfig from the cluster's machines.
type AdministratorReader interface {
	// Administrators returns the kubeconfigs in the cluster's running control-plane machines, in the order of their
	// creation. It returns what could be read together with the error for the rest. The caller must check whether a
	// kubeconfig is fit for use.
	Administrators(context.Context) ([]Administrator, error)
}

// Administrator is a kubeconfig from a control-plane machine.
type Administrator struct {
	Machine    string
	Kubeconfig []byte
	// Address is the host of the control plane, for a kubeconfig that names the machine's own loopback address. Empty
	// means not known.
	Address string
}
