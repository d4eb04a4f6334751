package kube

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Newer reports whether a kubeconfig has other credentials than the one in use, and is not known to expire before it.
// Embedded must accept both: a user's own kubeconfig with a program or a file in it is not replaced.
func Newer(fresh, used []byte) bool {
	one, other := user(fresh), user(used)
	if one == nil || other == nil {
		return false
	}
	if bytes.Equal(one.ClientCertificateData, other.ClientCertificateData) &&
		bytes.Equal(one.ClientKeyData, other.ClientKeyData) && one.Token == other.Token {
		return false
	}
	freshEnd, usedEnd := end(one), end(other)
	return freshEnd.IsZero() || usedEnd.IsZero() || !freshEnd.Before(usedEnd)
}

// user returns the user of a kubeconfig that Embedded accepts, otherwise nil.
func user(kubeconfig []byte) *clientcmdapi.AuthInfo {
	checked, err := Embedded(kubeconfig)
	if err != nil {
		return nil
	}
	config, err := loadConfig(checked)
	if err != nil {
		return nil
	}
	return config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
}

// end returns when a user's client certificate expires. Zero means the user has none, or it cannot be read.
func end(u *clientcmdapi.AuthInfo) time.Time {
	block, _ := pem.Decode(u.ClientCertificateData)
	if block == nil {
		return time.Time{}
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return certificate.NotAfter
}
