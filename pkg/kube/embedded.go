package kube

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

const refusedHint = "Find out who changed it. A kubeconfig from a cluster may contain only an https server, " +
	"certificate-authority-data, and client-certificate-data with " +
	"client-key-data or a token."

// Embedded checks a kubeconfig that does not come from this machine's user: from a Secret, a backup, a container or a
// cloud. Its author must not be able to run a program here, read a file or choose a proxy. Embedded returns its current
// context alone, with an https server, the authorities, and a client certificate or a token, all of them inline. If
// that context lacks one of these or has a forbidden key, the error is fault.KubeconfigRefused. Embedded drops other
// keys. Errors name keys and never values.
func Embedded(kubeconfig []byte) ([]byte, error) {
	config, err := loadConfig(kubeconfig)
	if err != nil {
		return nil, refuse("it cannot be read") // the parser quotes what it read
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil || config.Clusters[current.Cluster] == nil || config.AuthInfos[current.AuthInfo] == nil {
		return nil, refuse("it has no current context with a cluster and a user")
	}
	cluster, user := config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]
	if forbidden := forbiddenKeys(cluster, user); len(forbidden) > 0 {
		return nil, refuse("it has " + strings.Join(forbidden, ", "))
	}
	if err := errors.Join(checkServer(cluster.Server), checkAuthorities(cluster.CertificateAuthorityData),
		checkCredentials(user)); err != nil {
		return nil, refuse(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	only := clientcmdapi.NewConfig()
	only.Clusters[current.Cluster] = &clientcmdapi.Cluster{Server: cluster.Server, TLSServerName: cluster.TLSServerName,
		CertificateAuthorityData: cluster.CertificateAuthorityData}
	only.AuthInfos[current.AuthInfo] = &clientcmdapi.AuthInfo{ClientCertificateData: user.ClientCertificateData,
		ClientKeyData: user.ClientKeyData, Token: user.Token}
	only.Contexts[config.CurrentContext] = &clientcmdapi.Context{Cluster: current.Cluster, AuthInfo: current.AuthInfo}
	only.CurrentContext = config.CurrentContext
	return clientcmd.Write(*only)
}

func refuse(reason string) error {
	return fault.New(fault.KubeconfigRefused, "the kubeconfig is refused: "+reason, refusedHint)
}

// forbiddenKeys returns the keys that have a value and that no kubeconfig of a cluster needs.
func forbiddenKeys(cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) []string {
	var found []string
	for _, f := range []struct {
		key string
		is  bool
	}{
		{"exec", user.Exec != nil},
		{"auth-provider", user.AuthProvider != nil},
		{"client-certificate", user.ClientCertificate != ""},
		{"client-key", user.ClientKey != ""},
		{"tokenFile", user.TokenFile != ""},
		{"username", user.Username != ""},
		{"password", user.Password != ""},
		{"as", user.Impersonate != ""},
		{"as-uid", user.ImpersonateUID != ""},
		{"as-groups", len(user.ImpersonateGroups) > 0},
		{"as-user-extra", len(user.ImpersonateUserExtra) > 0},
		{"certificate-authority", cluster.CertificateAuthority != ""},
		{"insecure-skip-tls-verify", cluster.InsecureSkipTLSVerify},
		{"proxy-url", cluster.ProxyURL != ""},
	} {
		if f.is {
			found = append(found, f.key)
		}
	}
	return found
}

func checkServer(server string) error {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return errors.New("its server is not https://HOST:PORT")
	}
	return nil
}

// checkAuthorities requires PEM certificates and nothing else.
func checkAuthorities(data []byte) error {
	found := 0
	for rest := data; len(strings.TrimSpace(string(rest))) > 0; found++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil || block.Type != "CERTIFICATE" {
			return errors.New("its certificate-authority-data is not PEM certificates")
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("certificate %d of its certificate-authority-data cannot be read", found+1)
		}
	}
	if found == 0 {
		return errors.New("it has no certificate-authority-data")
	}
	return nil
}

func checkCredentials(user *clientcmdapi.AuthInfo) error {
	certificate, key := len(user.ClientCertificateData) > 0, len(user.ClientKeyData) > 0
	switch {
	case certificate != key:
		return errors.New("it has only one of client-certificate-data and client-key-data")
	case !certificate && user.Token == "":
		return errors.New("it has neither client-certificate-data nor a token")
	case certificate:
		if _, err := tls.X509KeyPair(user.ClientCertificateData, user.ClientKeyData); err != nil {
			return errors.New("its client-certificate-data and client-key-data are not a PEM certificate and its key")
		}
	}
	return nil
}
