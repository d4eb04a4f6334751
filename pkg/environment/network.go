package environment

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// checkNetworks refuses ranges of addresses that are none, or overlap: an address would mean two things.
func (e *Environment) checkNetworks() error {
	paths := []string{"cluster.pod_cidr", "cluster.service_cidr"}
	texts := map[string]string{"cluster.pod_cidr": e.spec.Cluster.PodCIDR, "cluster.service_cidr": e.spec.Cluster.ServiceCIDR}
	if e.InfraProvider() == "capo" && e.OpenStack().Network.Made {
		paths = append(paths, "cluster.openstack.node_cidr")
		texts["cluster.openstack.node_cidr"] = e.OpenStack().Network.CIDR
	}
	var problems []error
	ranges := map[string]netip.Prefix{}
	for _, path := range paths {
		text := texts[path]
		if text == "" { // the schema has said so
			continue
		}
		parsed, err := netip.ParsePrefix(text)
		if err != nil {
			problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s %s is not a range of addresses", e.whence(path), path, text),
				"Write it as 10.244.0.0/16."))
			continue
		}
		if parsed != parsed.Masked() {
			problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s %s is an address within a range", e.whence(path), path, text),
				fmt.Sprintf("The range is %s.", parsed.Masked())))
			parsed = parsed.Masked()
		}
		for _, other := range paths {
			if existing, there := ranges[other]; there && existing.Overlaps(parsed) {
				problems = append(problems, fault.New(fault.ValuesInvalid,
					fmt.Sprintf("%s%s %s overlaps %s %s", e.whence(other, path), other, existing, path, parsed),
					fmt.Sprintf("Choose ranges that share no address, for example --set %s=10.244.0.0/16,%s=10.96.0.0/16.", "cluster.pod_cidr", "cluster.service_cidr")))
			}
		}
		ranges[path] = parsed
	}
	return fault.Join(append(problems, e.checkFamilies(ranges), e.checkPodRange(ranges["cluster.pod_cidr"]), e.checkServiceRange(ranges["cluster.service_cidr"]))...)
}

// checkFamilies refuses pods and services of different families: a Service could not name a pod.
func (e *Environment) checkFamilies(ranges map[string]netip.Prefix) error {
	pods, services := ranges["cluster.pod_cidr"], ranges["cluster.service_cidr"]
	if !pods.IsValid() || !services.IsValid() || pods.Addr().Is4() == services.Addr().Is4() {
		return nil
	}
	return fault.New(fault.ValuesInvalid,
		fmt.Sprintf("%scluster.pod_cidr %s and cluster.service_cidr %s are not both of IPv4 or both of IPv6", e.whence("cluster.pod_cidr", "cluster.service_cidr"), pods, services),
		"Give both of one family: a cluster with two is not supported.")
}

// checkPodRange refuses a range of pods that has no part for each machine: kube-controller-manager gives each node a /24, or a
// /64 of IPv6.
func (e *Environment) checkPodRange(pods netip.Prefix) error {
	if !pods.IsValid() {
		return nil
	}
	part := 24
	if pods.Addr().Is6() {
		part = 64
	}
	// One more while a machine is replaced.
	needed := e.spec.Cluster.ControlPlane.Replicas + e.spec.Cluster.Worker.Replicas + 1
	if free := part - pods.Bits(); free >= 0 && (free > 30 || 1<<free >= needed) {
		return nil
	}
	return fault.New(fault.ValuesInvalid,
		fmt.Sprintf("%scluster.pod_cidr %s is too small: each of %d machines, counting one that replaces another, needs a /%d of it", e.whence("cluster.pod_cidr"), pods, needed, part),
		"Choose a larger one, for example --set cluster.pod_cidr=10.244.0.0/16.")
}

// checkServiceRange refuses what kube-apiserver would: more than 20 bits of addresses; and fewer than a cluster needs for its own.
func (e *Environment) checkServiceRange(services netip.Prefix) error {
	if !services.IsValid() {
		return nil
	}
	if free := services.Addr().BitLen() - services.Bits(); free >= 4 && free <= 20 {
		return nil
	}
	return fault.New(fault.ValuesInvalid, fmt.Sprintf("%scluster.service_cidr %s has not between 16 and 1048576 addresses", e.whence("cluster.service_cidr"), services),
		"Choose another one, for example --set cluster.service_cidr=10.96.0.0/16.")
}

// checkMirrors refuses ports that do not exist, as the schema only sees that an address has the form of one, and two mirrors of
// one host for kubeadm: containerd reads one file for each. RKE2 makes one of them.
func (e *Environment) checkMirrors() error {
	var problems []error
	hosts := map[string]bool{}
	for i, mirror := range e.spec.Cluster.RegistryMirrors {
		path := fmt.Sprintf("cluster.registry_mirrors.%d.", i)
		if hosts[mirror.Host] && mirror.Host != "" && e.spec.Cluster.BootstrapProvider == "kubeadm" {
			problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%shost: there is another mirror of %s", e.whence(path+"host"), path, mirror.Host),
				"Leave one of them."))
		}
		hosts[mirror.Host] = true
		for key, address := range map[string]string{"host": "//" + mirror.Host, "url": mirror.URL} {
			parsed, err := url.Parse(address)
			if err != nil || parsed.Port() == "" {
				continue
			}
			if port, err := strconv.Atoi(parsed.Port()); err != nil || port < 1 || port > 65535 {
				problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s%s: there is no port %s", e.whence(path+key), path, key, parsed.Port()),
					"Give a port from 1 to 65535."))
			}
		}
	}
	return fault.Join(problems...)
}
