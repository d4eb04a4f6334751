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

// checkToLook is check for commands that write no kubeconfig: then the one that is named must be there.
func (c *pivotClusters) checkToLook() error {
	return fault.Join(c.check(), readable("kubeconfig", c.kubeconfig))
}

// readable refuses a kubeconfig that a flag names and that is no file, or no kubeconfig. Which cluster it is of, the
// cluster says.
func readable(flag, path string) error {
	if path == "" {
		return nil
	}
	if err := isFile(path); err != nil {
		return fault.Wrap(fmt.Errorf("read --%s: %w", flag, err), fault.Usage, "Name a file that holds a kubeconfig.")
	}
	if isReplaceable(path) != nil { // reading a pipe would take from the one who reads it later
		return nil
	}
	if _, err := kube.ReadFile(path); err != nil {
		return fault.Wrap(fmt.Errorf("--%s: %w", flag, err), fault.Usage, fault.HintOf(err))
	}
	return nil
}

// differ refuses two flags that name one cluster. Whether a file is a kubeconfig at all is said by others.
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

// subject is the management cluster of an environment, as it is found with these flags.
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
