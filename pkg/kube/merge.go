package kube

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
)

// Merge puts the current context of a kubeconfig into the files that kubectl uses (KUBECONFIG, or ~/.kube/config), as
// the context name, and makes it the current one. It locks the files as kubectl does, and returns the file that it
// wrote. A cluster entry of that name for another cluster is fault.ClusterForeign. A locked file is fault.Busy. Merge
// overwrites a context of that name, and the user NAME-admin.
func Merge(kubeconfig []byte, name string) (file string, err error) {
	given, err := loadConfig(kubeconfig)
	if err != nil {
		return "", fmt.Errorf("read the kubeconfig of %s: %w", name, err)
	}
	one, err := flat(given)
	if err != nil {
		return "", fmt.Errorf("read the kubeconfig of %s: %w", name, err)
	}
	files := clientcmd.NewDefaultPathOptions()
	existing, err := files.GetStartingConfig()
	if err != nil {
		return "", fault.Wrap(fmt.Errorf("read %s: %w", strings.Join(files.GetLoadingPrecedence(), ", "), err),
			fault.Usage, "Fix the file, or set KUBECONFIG to another one.")
	}
	if err := mayReplace(existing, kubeconfig, name); err != nil {
		return "", err
	}
	user, current := name+adminSuffix, one.Contexts[one.CurrentContext]
	existing.Clusters[name] = one.Clusters[current.Cluster]
	if existing.AuthInfos[user] = one.AuthInfos[current.AuthInfo]; existing.AuthInfos[user] == nil {
		existing.AuthInfos[user] = clientcmdapi.NewAuthInfo()
	}
	existing.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: user}
	existing.CurrentContext = name
	if err := clientcmd.ModifyConfig(files, *existing, false); err != nil {
		if os.IsExist(err) {
			return "", fault.Retryable(fmt.Errorf("write %s: another process is writing it: %w",
				files.GetDefaultFilename(), err), fault.Busy,
				"Run the same command again. If a killed process left its lock behind, remove "+
					files.GetDefaultFilename()+".lock.")
		}
		return "", fault.Wrap(fmt.Errorf("write %s: %w", files.GetDefaultFilename(), err), fault.Usage,
			"Set KUBECONFIG to a writable file.")
	}
	return files.GetDefaultFilename(), nil
}

// adminSuffix ends the name of the user that belongs to a cluster.
const adminSuffix = "-admin"

// flat returns the current context alone, with the content of its files inline.
func flat(config *clientcmdapi.Config) (*clientcmdapi.Config, error) {
	config = config.DeepCopy()
	if err := clientcmdapi.MinifyConfig(config); err != nil {
		return nil, err
	}
	return config, clientcmdapi.FlattenConfig(config)
}

// mayReplace refuses a cluster entry of the name that is, or may be, another cluster. It does not check contexts and
// users.
func mayReplace(existing *clientcmdapi.Config, kubeconfig []byte, name string) error {
	if context, is := existing.Contexts[name]; is && context.Cluster != name {
		return fault.New(fault.ClusterForeign, fmt.Sprintf("%s has a context %s already, for the cluster %s",
			context.LocationOfOrigin, name, context.Cluster),
			"Rename that context: kubectl config rename-context "+oneline.Shell(name)+
				" NEW. Or print the kubeconfig into its own file.")
	}
	for other, context := range existing.Contexts {
		if context.AuthInfo == name+adminSuffix && context.Cluster != name {
			return fault.New(fault.ClusterForeign, fmt.Sprintf("%s has a user %s already, for the context %s",
				context.LocationOfOrigin, context.AuthInfo, other), "Print the kubeconfig into its own file.")
		}
	}
	there, is := existing.Clusters[name]
	if !is {
		return nil
	}
	only := clientcmdapi.NewConfig()
	only.Clusters[name], only.Contexts[name], only.CurrentContext = there.DeepCopy(),
		&clientcmdapi.Context{Cluster: name}, name
	why := "it is another one"
	err := clientcmdapi.FlattenConfig(only) // its authority may be a file
	content, writeErr := clientcmd.Write(*only)
	switch identity := Compare(content, kubeconfig); {
	case err != nil || writeErr != nil || identity == Incomparable:
		why = "it cannot be compared, as it does not name the same certificate authorities"
	case identity == Same:
		return nil
	}
	return fault.New(fault.ClusterForeign, fmt.Sprintf("%s has a cluster %s already, and %s, at %s",
		there.LocationOfOrigin, name, why, there.Server),
		"If that cluster is gone: kubectl config delete-cluster "+oneline.Shell(name)+
			". Otherwise print the kubeconfig into its own file.")
}
