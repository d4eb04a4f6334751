package kube

import (
	"encoding/pem"
	"errors"
)

// Identity is the result of comparing two kubeconfigs.
type Identity string

// The results of Compare.
const (
	Same  Identity = "same"
	Other Identity = "other"
	// one of the two does not name the authorities that it trusts, or they share only some
	Incomparable Identity = "incomparable"
)

// authorities returns the certificate authorities that a kubeconfig trusts in its current context, independent of PEM
// formatting. A Cluster's authorities are made with it and move with it: they identify the cluster of a kubeconfig,
// whatever its address.
func authorities(kubeconfig []byte) (map[string]bool, error) {
	text, err := authorityData(kubeconfig)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		all[string(block.Bytes)] = true
	}
	if len(all) == 0 {
		return nil, errors.New("it holds no certificate authority")
	}
	return all, nil
}

// authorityData returns the authorities of a kubeconfig's current context as they are written.
func authorityData(kubeconfig []byte) ([]byte, error) {
	config, err := loadConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	context := config.Contexts[config.CurrentContext]
	if context == nil || config.Clusters[context.Cluster] == nil {
		return nil, errors.New("it has no current context")
	}
	return config.Clusters[context.Cluster].CertificateAuthorityData, nil
}

// Authority returns the certificate authorities that a kubeconfig trusts in its current context, in PEM. Nil means that
// it does not contain them, or cannot be read.
func Authority(kubeconfig []byte) []byte {
	text, err := authorityData(kubeconfig)
	if err != nil {
		return nil
	}
	return text
}

// Compare reports whether two kubeconfigs are of one cluster. They are if they trust the same authorities, in any
// order. If they share only some, as while one is replaced, a cluster that the other does not trust may answer either
// of them.
func Compare(a, b []byte) Identity {
	one, err := authorities(a)
	if err != nil {
		return Incomparable
	}
	other, err := authorities(b)
	if err != nil {
		return Incomparable
	}
	shared := 0
	for authority := range one {
		if other[authority] {
			shared++
		}
	}
	switch {
	case shared == 0:
		return Other
	case shared == len(one) && shared == len(other):
		return Same
	}
	return Incomparable
}

// SameCluster reports whether two kubeconfigs are known to be of one cluster.
func SameCluster(a, b []byte) bool { return Compare(a, b) == Same }
