package environment

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// The values with address ranges.
const (
	podCIDR     = "cluster.pod_cidr"
	serviceCIDR = "cluster.service_cidr"
)

// Range is an address range, and the path of its value.
type Range struct{ Path, CIDR string }

// checkNetworks refuses invalid and overlapping address ranges: an address would have two meanings.
func (e *Environment) checkNetworks() error {
	networks := []Range{{podCIDR, e.spec.Cluster.PodCIDR}, {serviceCIDR, e.spec.Cluster.ServiceCIDR}}
	if e.ranges != nil {
		networks = append(networks, e.ranges(e)...)
	}
	var problems []error
	ranges := map[string]netip.Prefix{}
	for _, n := range networks {
		path, text := n.Path, n.CIDR
		if text == "" { // the schema has reported it
			continue
		}
		parsed, err := netip.ParsePrefix(text)
		if err != nil {
			problems = append(problems, fault.New(fault.ValuesInvalid,
				fmt.Sprintf("%s%s %s is not a range of addresses", e.whence(path), path, text),
				"Write it as 10.244.0.0/16."))
			continue
		}
		if parsed != parsed.Masked() {
			problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s %s has host bits set",
				e.whence(path), path, text),
				fmt.Sprintf("Write it as %s.", parsed.Masked())))
			parsed = parsed.Masked()
		}
		for _, other := range networks {
			if existing, there := ranges[other.Path]; there && existing.Overlaps(parsed) {
				problems = append(problems, fault.New(fault.ValuesInvalid,
					fmt.Sprintf("%s%s %s overlaps %s %s", e.whence(other.Path, path), other.Path, existing, path,
						parsed),
					fmt.Sprintf("Choose ranges that share no address, for example --set "+
						"%s=10.244.0.0/16,%s=10.96.0.0/16.", podCIDR, serviceCIDR)))
			}
		}
		ranges[path] = parsed
	}
	pods, services := ranges[podCIDR], ranges[serviceCIDR]
	return fault.Join(append(problems, e.checkFamilies(pods, services), e.checkPodRange(pods),
		e.checkServiceRange(services))...)
}

// checkFamilies refuses pods and services of different families: a Service could not route to a pod.
func (e *Environment) checkFamilies(pods, services netip.Prefix) error {
	if !pods.IsValid() || !services.IsValid() || pods.Addr().Is4() == services.Addr().Is4() {
		return nil
	}
	return fault.New(fault.ValuesInvalid,
		fmt.Sprintf("%s%s %s and %s %s are not both of IPv4 or both of IPv6", e.whence(podCIDR, serviceCIDR), podCIDR,
			pods, serviceCIDR, services),
		"Use one family for both: dual-stack clusters are not supported.")
}

// checkPodRange refuses a pod range that kubeadm refuses: each node gets a /24 of it, or a /64 of IPv6, of at most
// 65536.
func (e *Environment) checkPodRange(pods netip.Prefix) error {
	part, example := 24, "10.244.0.0/16"
	if pods.Addr().Is6() {
		part, example = 64, "fd00:10:244::/56"
	}
	if !pods.IsValid() || pods.Bits() <= part && pods.Bits() >= part-16 {
		return nil
	}
	return fault.New(fault.ValuesInvalid,
		fmt.Sprintf("%s%s %s must be from /%d to /%d: each node gets a /%d of it", e.whence(podCIDR), podCIDR, pods,
			part-16, part, part),
		fmt.Sprintf("Choose another range, for example --set %s=%s.", podCIDR, example))
}

// checkServiceRange refuses a service range that kubeadm refuses.
func (e *Environment) checkServiceRange(services netip.Prefix) error {
	example := "10.96.0.0/16"
	if services.Addr().Is6() {
		example = "fd00:10:96::/112"
	}
	if free := services.Addr().BitLen() - services.Bits(); !services.IsValid() || free >= 4 && free <= 20 {
		return nil
	}
	return fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s %s must have 16 to 1048576 addresses",
		e.whence(serviceCIDR), serviceCIDR, services),
		fmt.Sprintf("Choose another range, for example --set %s=%s.", serviceCIDR, example))
}

// checkMirrors refuses ports that do not exist, as the schema checks only the form of an address, and two mirrors of
// one host for kubeadm: containerd reads one file for each. RKE2's configuration accepts several. Credentials would be
// readable in both clusters.
func (e *Environment) checkMirrors() error {
	var problems []error
	hosts := map[string]bool{}
	for i, mirror := range e.spec.Cluster.RegistryMirrors {
		path := fmt.Sprintf("cluster.registry_mirrors.%d.", i)
		if hosts[mirror.Host] && mirror.Host != "" && e.spec.Cluster.BootstrapProvider == "kubeadm" {
			problems = append(problems, fault.New(fault.ValuesInvalid,
				fmt.Sprintf("%s%shost: another mirror of %s exists", e.whence(path+"host"), path, mirror.Host),
				"Remove one of them."))
		}
		hosts[mirror.Host] = true
		address, err := url.Parse(mirror.URL)
		if err != nil {
			problems = append(problems, fault.New(fault.ValuesInvalid,
				fmt.Sprintf("%s%surl is not an address", e.whence(path+"url"), path),
				"Write it as https://mirror.example.org:5000."))
		}
		if err == nil && address.User != nil {
			problems = append(problems, fault.New(fault.ValuesInvalid,
				fmt.Sprintf("%s%surl contains credentials, which would be readable in both clusters",
					e.whence(path+"url"), path),
				"Use a mirror that machines may read without a login."))
		}
		for _, field := range []struct{ key, address string }{{"host", "//" + mirror.Host}, {"url", mirror.URL}} {
			parsed, err := url.Parse(field.address)
			if err != nil || parsed.Port() == "" {
				continue
			}
			if port, err := strconv.Atoi(parsed.Port()); err != nil || port < 1 || port > 65535 {
				problems = append(problems,
					fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s%s: there is no port %s", e.whence(path+field.key),
						path, field.key, parsed.Port()),
						"Give a port from 1 to 65535."))
			}
		}
	}
	return fault.Join(problems...)
}
