package kube

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oneline"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// ReadFile reads a kubeconfig file of this machine's user, which may run programs and name files as kubectl allows. The
// result is its current context alone. Relative paths start at the file's folder and become absolute. Certificate files
// are inlined, so that they identify the cluster. An empty file returns nil. A file that is no kubeconfig, or names an
// unreadable file, is fault.Usage. If the file itself cannot be read, the error is not fault.Usage.
func ReadFile(path string) ([]byte, error) {
	content, err := unpack.Named(path, mostOfKubeconfig)
	if err != nil || len(bytes.TrimSpace(content)) == 0 {
		return nil, err
	}
	unusable := func(err error) ([]byte, error) {
		return nil, fault.Wrap(fmt.Errorf("read kubeconfig %s: %s", path, strings.Join(strings.Fields(err.Error()),
			" ")), fault.Usage,
			"Fix the file until kubectl --kubeconfig "+oneline.Shell(path)+" get nodes works, or use another file.")
	}
	config, err := loadConfig(content)
	if err != nil {
		return unusable(err)
	}
	if config.Contexts[config.CurrentContext] == nil {
		return unusable(errors.New("it has no current context: want current-context with the name of one of its " +
			"contexts"))
	}
	for _, c := range config.Clusters {
		c.LocationOfOrigin = path
	}
	for _, u := range config.AuthInfos {
		u.LocationOfOrigin = path
	}
	if err := clientcmd.ResolveLocalPaths(config); err != nil {
		return unusable(err)
	}
	if config, err = flat(config); err != nil {
		return unusable(err)
	}
	whole, err := clientcmd.Write(*config)
	if err != nil {
		return unusable(err)
	}
	if _, err := restConfig(whole); err != nil {
		return unusable(err)
	}
	return whole, nil
}

// HasOneCluster reports whether a kubeconfig has one cluster and one context.
func HasOneCluster(kubeconfig []byte) bool {
	config, err := loadConfig(kubeconfig)
	return err == nil && len(config.Clusters) == 1 && len(config.Contexts) == 1
}

// IsOfClusterAlone reports whether a kubeconfig has one cluster, under this name, and uses it.
func IsOfClusterAlone(kubeconfig []byte, cluster string) bool {
	config, err := loadConfig(kubeconfig)
	if err != nil {
		return false
	}
	context := config.Contexts[config.CurrentContext]
	return context != nil && context.Cluster == cluster && len(config.Clusters) == 1
}
