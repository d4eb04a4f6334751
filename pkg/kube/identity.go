package kube

import (
	"bytes"
	"encoding/pem"
	"errors"

	"k8s.io/client-go/tools/clientcmd"
)

// authority returns the certificate authorities that a kubeconfig trusts in its current context, without PEM's freedom of form. Those of
// a Cluster are made with it and move with it: they say which cluster a kubeconfig is of, whatever its address.
func authority(kubeconfig []byte) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, err
	}
	context := config.Contexts[config.CurrentContext]
	if context == nil || config.Clusters[context.Cluster] == nil {
		return nil, errors.New("it has no current context")
	}
	var all []byte
	for rest := config.Clusters[context.Cluster].CertificateAuthorityData; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		all = append(all, block.Bytes...)
	}
	if len(all) == 0 {
		return nil, errors.New("it holds no certificate authority")
	}
	return all, nil
}

// SameCluster says whether two kubeconfigs are of one cluster, for sure.
func SameCluster(a, b []byte) bool {
	one, err := authority(a)
	if err != nil {
		return false
	}
	other, err := authority(b)
	return err == nil && bytes.Equal(one, other)
}
