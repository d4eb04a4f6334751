package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// pivotClusters are the flags by which the two clusters of a pivot are found.
type pivotClusters struct {
	bootstrapKubeconfig string
	kubeconfig          string
	engineAddress       string
}

func (c *pivotClusters) flags(f *pflag.FlagSet) {
	f.StringVar(&c.bootstrapKubeconfig, "bootstrap-kubeconfig", "",
		"kubeconfig of the existing cluster that up used as bootstrap cluster")
	f.StringVar(&c.kubeconfig, "kubeconfig", "",
		"kubeconfig of the management cluster (default: the one in the state folder)")
	f.StringVar(&c.engineAddress, "engine-address", "", "host name or IP address where this machine reaches published "+
		"ports of the Docker engine (default: the host of DOCKER_HOST)")
}

func (c *pivotClusters) check() error {
	return fault.Join(checkEngineAddress(c.engineAddress), readable("bootstrap-kubeconfig", c.bootstrapKubeconfig),
		differ(c.bootstrapKubeconfig, c.kubeconfig))
}

// checkToLook also requires the file of --kubeconfig, for commands that do not write it.
func (c *pivotClusters) checkToLook() error {
	return fault.Join(c.check(), readable("kubeconfig", c.kubeconfig))
}

// readable refuses a flag's file that cannot be read, or has content that is no kubeconfig. It does not check which
// cluster the file names.
func readable(flag, path string) error {
	if path == "" {
		return nil
	}
	if err := isFile(path); err != nil {
		return fault.Wrap(fmt.Errorf("read --%s: %w", flag, err), fault.Usage, "Name a file that holds a kubeconfig.")
	}
	if isReplaceable(path) != nil { // a pipe can be read only once
		return nil
	}
	if _, err := kube.ReadFile(path); err != nil {
		return fault.Wrap(fmt.Errorf("--%s: %w", flag, err), fault.Usage, fault.HintOf(err))
	}
	return nil
}

// differ refuses the same cluster for both flags. It ignores unreadable files: others report those.
func differ(bootstrap, management string) error {
	if bootstrap == "" || management == "" || isReplaceable(bootstrap) != nil || isReplaceable(management) != nil {
		return nil
	}
	one, err := kube.ReadFile(bootstrap)
	if err != nil || one == nil {
		return nil
	}
	if other, err := kube.ReadFile(management); err != nil || !kube.SameCluster(one, other) {
		return nil
	}
	return clusters.SameAsBootstrap(management)
}

// subject returns the management cluster of an environment, with the paths and addresses from these flags.
func (c *pivotClusters) subject(env *environment.Environment) (clusters.Subject, error) {
	state, err := stateFolder(env.ClusterName())
	if err != nil {
		return clusters.Subject{}, err
	}
	kubeconfig := c.kubeconfig
	if kubeconfig == "" {
		kubeconfig = filepath.Join(state, "kubeconfig")
	}
	return clusters.Subject{
		Identity: clusters.IdentityOf(env), BootstrapKubeconfig: c.bootstrapKubeconfig, EngineAddress: c.engineAddress,
		KubeconfigPath: kubeconfig, StateFolder: state,
		Timeout: 30 * time.Minute,
	}, nil
}
