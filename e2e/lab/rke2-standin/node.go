package main

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
)

// machine is this node: its name and its address in the cluster.
type machine struct{ name, address string }

// describeMachine takes the name and the address from the configuration, else from the machine itself.
func describeMachine(cfg config) (machine, error) {
	own := machine{name: cfg.nodeName}
	if own.name == "" {
		hostname, err := os.Hostname()
		if err != nil {
			return machine{}, fmt.Errorf("find the name of this node: %w", err)
		}
		own.name = strings.ToLower(hostname)
	}
	own.address, _, _ = strings.Cut(cfg.nodeIP, ",")
	if cfg.advertiseAddress != "" {
		own.address = cfg.advertiseAddress
	}
	if own.address != "" {
		return own, nil
	}
	var err error
	own.address, err = outboundAddress()
	return own, err
}

// outboundAddress returns the address that the default route uses. Dialing UDP sends nothing; 192.0.2.1 is an address
// for documentation.
func outboundAddress() (string, error) {
	connection, err := net.Dial("udp", "192.0.2.1:9")
	if err != nil {
		return "", fmt.Errorf("find the address of this node by its default route (give node-ip if it has none): %w",
			err)
	}
	defer func() { _ = connection.Close() }()
	address, isUDP := connection.LocalAddr().(*net.UDPAddr)
	if !isUDP {
		return "", errors.New("find the address of this node: no UDP address")
	}
	return address.IP.String(), nil
}

// serverNames are all names and addresses that clients may reach this server by.
func (m machine) serverNames(cfg config) []string {
	names := append([]string{m.name, m.address, "localhost", "127.0.0.1"}, cfg.tlsSan...)
	slices.Sort(names)
	return slices.Compact(names)
}

// servingCertificate makes this server's certificate for the registration port.
func (m machine) servingCertificate(p paths, cfg config) (certificatePEM, keyPEM []byte, pair tls.Certificate,
	err error) {
	signer, err := readAuthority(p, serverCA)
	if err != nil {
		return nil, nil, tls.Certificate{}, err
	}
	template := x509.Certificate{
		Subject:     pkix.Name{CommonName: "rke2", Organization: []string{"rke2"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range m.serverNames(cfg) {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	if certificatePEM, keyPEM, err = signer.issue(template); err != nil {
		return nil, nil, tls.Certificate{}, err
	}
	pair, err = tls.X509KeyPair(certificatePEM, keyPEM)
	return certificatePEM, keyPEM, pair, err
}
