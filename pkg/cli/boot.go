package cli

import (
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/registry"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// programsOf returns the files that the machines of an environment install when they boot.
func programsOf(env *environment.Environment) (content.Programs, error) {
	files, err := env.KubernetesFiles()
	if err != nil || len(files) == 0 {
		return content.Programs{}, err
	}
	programs := content.Programs{Files: files}
	if p := proxies(env); p.HTTP != "" || p.HTTPS != "" {
		programs.Proxy = &machineadm.Proxy{HTTP: p.HTTP, HTTPS: p.HTTPS, NoProxy: p.No}
	}
	return programs, nil
}

// withProgramsBeside returns the environment whose machines find the files that they install in the registry next to
// the clusters. It stays as it is if up makes no such machines, if they do not reach that registry, or if the values
// name another place.
func withProgramsBeside(env *environment.Environment) (*environment.Environment, error) {
	cluster := env.Spec().Cluster
	if cluster.KubernetesSource != "boot" || cluster.KubernetesMirror != "" || env.Installed() {
		return env, nil
	}
	makes, err := known.Of(env, nil)
	if err != nil || !makes.ReachesEngine() {
		return env, err
	}
	address, err := programsBeside(cluster.Name)
	if err != nil {
		return nil, err
	}
	return env.WithOverrides(map[string]any{"cluster": map[string]any{"kubernetes_mirror": address}})
}

// programsFor returns the files that the registry next to the clusters must serve.
func programsFor(env *environment.Environment) (content.Programs, error) {
	address, err := programsBeside(env.ClusterName())
	if err != nil || env.Spec().Cluster.KubernetesMirror != address || env.Installed() {
		return content.Programs{}, err
	}
	return programsOf(env)
}

func programsBeside(cluster string) (address string, err error) {
	return content.ProgramsAddress(registry.Host(cluster), true)
}
