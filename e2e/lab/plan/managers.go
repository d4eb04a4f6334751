package plan

import "github.com/cluster-init/cluster-init/e2e/lab/golang"

// TestManagers are the controllers that tests run as processes: cert-manager's, those of Cluster API, and its provider for
// AWS, which takes minutes to compile and is part of no bundle, as no AWS answers in the lab.
func TestManagers() []golang.Module {
	const aws = clusterAPI + "-provider-aws/v2"
	managers := []golang.Module{{
		Name: "cluster-api-provider-aws", Path: aws, Binaries: []golang.Binary{{Package: aws, Name: "capa"}},
		Apart: "part of no bundle: only make test-capa builds it",
	}}
	for _, module := range providerModules(nil) {
		if module.Name == "cluster-api" || module.Name == CertManagerModule {
			managers = append(managers, module)
		}
	}
	return managers
}
