package kube

import (
	"fmt"
	"net"
	"net/url"

	"k8s.io/client-go/tools/clientcmd"
)

// WithHost returns kubeconfig with another host and the same port.
func WithHost(kubeconfig []byte, host string) ([]byte, error) {
	return WithServer(kubeconfig, host, "")
}

// WithServer returns kubeconfig with another address; the name that the certificate is checked against stays, so that it
// does not matter under which name this machine knows the engine. An empty port stays as it is.
func WithServer(kubeconfig []byte, host, port string) ([]byte, error) {
	config, err := clientcmd.Load(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	for _, c := range config.Clusters {
		old, err := url.Parse(c.Server)
		if err != nil {
			return nil, fmt.Errorf("reading the server's address %q: %w", c.Server, err)
		}
		if c.TLSServerName == "" {
			c.TLSServerName = old.Hostname()
		}
		to := port
		if to == "" {
			to = old.Port()
		}
		c.Server = "https://" + net.JoinHostPort(host, to)
	}
	return clientcmd.Write(*config)
}
