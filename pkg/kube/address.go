package kube

import (
	"errors"
	"fmt"
	"net"
	"net/url"

	"k8s.io/client-go/tools/clientcmd"
)

// WithHost returns kubeconfig with another host and the same port.
func WithHost(kubeconfig []byte, host string) ([]byte, error) {
	return WithServer(kubeconfig, host, "")
}

// WithServer returns kubeconfig with another address. An empty port keeps the port of each server. The name that the
// certificate is checked against stays, so that this machine may use any name for the engine.
func WithServer(kubeconfig []byte, host, port string) ([]byte, error) {
	config, err := loadConfig(kubeconfig)
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

// AtServerOf returns kubeconfig with the address and the certificate name of another kubeconfig's current context.
func AtServerOf(kubeconfig, other []byte) ([]byte, error) {
	config, err := loadConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	from, err := loadConfig(other)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	context := from.Contexts[from.CurrentContext]
	if context == nil || from.Clusters[context.Cluster] == nil {
		return nil, errors.New("reading a kubeconfig: it has no current context")
	}
	at := from.Clusters[context.Cluster]
	for _, c := range config.Clusters {
		c.Server, c.TLSServerName = at.Server, at.TLSServerName
	}
	return clientcmd.Write(*config)
}

// ListensHere reports whether a kubeconfig names its server by a loopback address, as RKE2 writes it for the machine
// that it runs on.
func ListensHere(kubeconfig []byte) bool {
	config, err := restConfig(kubeconfig)
	if err != nil {
		return false
	}
	u, err := url.Parse(config.Host)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
