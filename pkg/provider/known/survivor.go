package known

import (
	"fmt"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
	dockerprovider "github.com/cluster-init/cluster-init/pkg/provider/docker"
	"github.com/cluster-init/cluster-init/pkg/provider/openstack"
)

// Lost is a cluster whose API server does not answer and whose environment is not known: a backup describes it.
type Lost struct {
	Namespace, Cluster string
	// Infrastructure is the kind of its infrastructure object.
	Infrastructure string
	// Endpoint is the host of its API server.
	Endpoint string
	// Roles are those of its machines when the backup was made.
	Roles provider.Roles
}

// Access is how machines are reached and found.
type Access struct {
	Engine *docker.Client
	// Shell reaches the machine that is left. Nil means that the user named none.
	Shell provider.Shell
	// Lookup returns the process's variables.
	Lookup func(string) (string, bool)
}

// ControlPlanes returns what runs programs on the cluster's control-plane machines. It refuses, with the code
// fault.Usage, an access that does not fit the provider, and with fault.RestoreRefused a provider that has none.
func ControlPlanes(of Lost, by Access) (provider.ControlPlaneRunner, error) {
	switch of.Infrastructure {
	case "DevCluster", "DockerCluster":
		if by.Shell != nil {
			return nil, fault.New(fault.Usage, fmt.Sprintf("the machines of %s are containers, which --ssh does not "+
				"reach", of.Cluster), "Leave out --ssh: programs run through the Docker engine.")
		}
		return dockerprovider.Provider{Engine: by.Engine, Cluster: of.Cluster}, nil
	case "OpenStackCluster":
		if by.Shell == nil {
			return nil, fault.New(fault.Usage, fmt.Sprintf("the machines of %s are servers of OpenStack, and --ssh is "+
				"missing", of.Cluster), "Name the control-plane machine that is left: --ssh USER@ADDRESS.")
		}
		return openstack.ControlPlanesIn(by.Lookup, of.Namespace, of.Cluster, of.Endpoint, of.Roles, by.Shell), nil
	}
	return nil, fault.New(fault.RestoreRefused, fmt.Sprintf("restore the etcd of %s: its infrastructure is of kind "+
		"%s, and only machines of Docker and OpenStack can be listed and reached", of.Cluster, of.Infrastructure),
		"Restore the backup into another management cluster: run restore without --etcd.")
}
