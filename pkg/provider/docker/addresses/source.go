package addresses

import (
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"regexp"
	"slices"
)

// source is a file of a machine that has addresses written down.
type source struct {
	file string
	read func(content []byte) []netip.Addr
	// always reports that the whole file has an address of the machine's network.
	always bool
}

const (
	adminConf   = "/etc/kubernetes/admin.conf"
	kubeletConf = "/etc/kubernetes/kubelet.conf"
	rke2Config  = "/etc/rancher/rke2/config.yaml"
	etcdPeer    = "/etc/kubernetes/pki/etcd/peer.crt"
)

// ownSources are the files with a machine's own address, the most reliable first. The certificate of etcd's member is
// the only file of kubeadm that nothing rewrites: the image's entrypoint replaces a former address in the others.
var ownSources = []source{
	{etcdPeer, certificate, true},
	{"/var/lib/rancher/rke2/server/db/etcd/config", first(
		regexp.MustCompile(`(?m)^\s*(?:initial-)?advertise-(?:peer|client)-urls:\s*['"]?https?://([0-9.]+):`)), true},
	{"/etc/kubernetes/manifests/etcd.yaml", first(
		regexp.MustCompile(`(?m)^\s*- --(?:initial-)?advertise-(?:peer|client)-urls=https?://([0-9.]+):`)), true},
	{"/var/lib/kubelet/kubeadm-flags.env", first(regexp.MustCompile(`--node-ip=([0-9.]+)`)), false},
	{rke2Config, first(regexp.MustCompile(`(?m)^node-ip:\s*(?:-\s*)?['"]?([0-9.]+)`)), false},
}

// endpointSources are the files with the address of the load balancer. Those of a control plane come first: kubelet's
// is rewritten by the image's entrypoint.
var endpointSources = []source{
	{adminConf, first(serverAddress), false},
	{rke2Config, first(regexp.MustCompile(`(?m)^server:\s*['"]?https?://([0-9.]+):`)), false},
	{kubeletConf, first(serverAddress), false},
	{rke2Config, listed(regexp.MustCompile(`(?m)^tls-san:[^\n]*(?:\n\s*-[^\n]*)*`)), false},
}

var (
	serverAddress = regexp.MustCompile(`(?m)^\s*server:\s*['"]?https?://([0-9.]+):`)
	anyAddress    = regexp.MustCompile(`\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b`)
)

// first reads the first group of each match.
func first(match *regexp.Regexp) func([]byte) []netip.Addr {
	return func(content []byte) (found []netip.Addr) {
		for _, m := range match.FindAllSubmatch(content, -1) {
			if address, err := netip.ParseAddr(string(m[1])); err == nil {
				found = append(found, address)
			}
		}
		return found
	}
}

// listed reads all addresses of a list in a file.
func listed(list *regexp.Regexp) func([]byte) []netip.Addr {
	return func(content []byte) (found []netip.Addr) {
		for _, text := range anyAddress.FindAll(list.Find(content), -1) {
			if address, err := netip.ParseAddr(string(text)); err == nil {
				found = append(found, address)
			}
		}
		return found
	}
}

// certificate reads the addresses that a certificate is for.
func certificate(content []byte) (found []netip.Addr) {
	block, _ := pem.Decode(content)
	if block == nil {
		return nil
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	for _, ip := range c.IPAddresses {
		if address, ok := netip.AddrFromSlice(ip); ok {
			found = append(found, address.Unmap())
		}
	}
	return found
}

// within returns the different IPv4 addresses that machines can have in the subnets.
func within(subnets []netip.Prefix, addresses []netip.Addr) (found []netip.Addr) {
	for _, a := range addresses {
		in := func(p netip.Prefix) bool { return p.Contains(a) && a != p.Masked().Addr() }
		if a.Is4() && slices.ContainsFunc(subnets, in) && !slices.Contains(found, a) {
			found = append(found, a)
		}
	}
	return found
}
