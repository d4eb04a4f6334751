package kube

import (
	"encoding/pem"
	"errors"
)

// Identity is how two kubeconfigs compare.
type Identity string

// The answers of Compare.
const (
	Same  Identity = "same"
	Other Identity = "other"
	// one of the two does not say which authorities it trusts, or they share some only
	Incomparable Identity = "incomparable"
)

// authorities returns the certificate authorities that a kubeconfig trusts in its current context, without PEM's
// freedom of form. Those of a Cluster are made with it and move with it: they say which cluster a kubeconfig is of,
// whatever its address.
func authorities(kubeconfig []byte) (map[string]bool, error) {
	config, err := loadConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	context := config.Contexts[config.CurrentContext]
	if context == nil || config.Clusters[context.Cluster] == nil {
		return nil, errors.New("it has no current context")
	}
	all := map[string]bool{}
	for rest := config.Clusters[context.Cluster].CertificateAuthorityData; ; {
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

// Compare reports whether two kubeconfigs are of one cluster. They are if they trust the same authorities, in whatever
// order. Where they share some only, as while one is replaced, either of them may be answered by a cluster that the
// other does not know.
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

// SameCluster reports whether two kubeconfigs are of one cluster, for sure.
func SameCluster(a, b []byte) bool { return Compare(a, b) == Same }
