package plan

import (
	"slices"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
)

// CAPAModule and CAPAPath are the build module of Cluster API's provider for AWS and what it builds.
const (
	CAPAModule = "cluster-api-provider-aws"
	CAPAPath   = clusterAPI + "-provider-aws/v2"
)

// TestManagers are the controllers that tests run as processes: cert-manager's, those of Cluster API and of all its
// providers. The provider for AWS takes minutes to compile and is part of no bundle, as no AWS answers in the lab.
func TestManagers() []golang.Module {
	managers := []golang.Module{{
		Name: CAPAModule, Path: CAPAPath, Binaries: []golang.Binary{{Package: CAPAPath, Name: "capa"}},
		Apart: "part of no bundle: only make test-capa builds it",
	}}
	tested := []string{"cluster-api", CertManagerModule, "cluster-api-docker", CAPOModule, ORCModule, RKE2Module}
	for _, module := range providerModules([]string{"kubeadm-capd", "rke2-capo"}) {
		if slices.Contains(tested, module.Name) {
			managers = append(managers, module)
		}
	}
	return managers
}
