package environment

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// checkNeeded refuses an environment without a component that every management cluster is made of: `up` would wait for
// what nothing makes. chart is what the chart said already.
func (e *Environment) checkNeeded(chart error) error {
	var problems []error
	bootstrap := map[string]string{"kubeadm": "cabpk", "rke2": "cabpr"}[e.BootstrapProvider()]
	for _, name := range []string{"cert-manager", "capi", bootstrap, e.InfraProvider(), "cluster"} {
		if name == "" || chart != nil && strings.Contains(chart.Error(), fmt.Sprintf("depends on %q, which is not enabled", name)) {
			continue
		}
		enabled := "components." + name + ".enabled"
		if _, known := at(e.Values(Management), "components."+name); !known || e.isUnknown(enabled) {
			continue
		}
		where := ""
		switch inBootstrap, inManagement := e.enabled(Bootstrap, name), e.enabled(Management, name); {
		case inBootstrap && inManagement:
			continue
		case inBootstrap:
			where = " in phase management"
		case inManagement:
			where = " in phase bootstrap"
		}
		problems = append(problems, fault.New(fault.ComponentUnknown,
			fmt.Sprintf("%scomponent %q is not enabled%s, and without it there is no management cluster (%s)", e.whence(enabled), name, where, enabled),
			fmt.Sprintf("Enable it: --set %s=true. To bring your own in its place, give it another `path` or `repo`.", enabled)))
	}
	return fault.Join(problems...)
}

// enabled tells whether a component is enabled in a phase, as the chart's template telco-cloud-init.enabled does.
func (e *Environment) enabled(phase Phase, name string) bool {
	value, _ := at(e.Values(phase), "components."+name+".enabled")
	text := fmt.Sprint(value)
	return text == "true" || text == string(phase)+"-only"
}

// checkNetworks refuses ranges of addresses that are none, or overlap: an address would mean two things.
func (e *Environment) checkNetworks() error {
	paths := []string{"cluster.pod_cidr", "cluster.service_cidr"}
	if e.InfraProvider() == "capo" && e.OpenStack().Network.Made {
		paths = append(paths, "cluster.openstack.node_cidr")
	}
	var problems []error
	ranges := map[string]netip.Prefix{}
	for _, path := range paths {
		text := e.text(path)
		if text == "" { // the schema has said so
			continue
		}
		parsed, err := netip.ParsePrefix(text)
		if err != nil {
			problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s %s is not a range of addresses", e.whence(path), path, text),
				"Write it as 10.244.0.0/16."))
			continue
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
	return fault.Join(problems...)
}

// checkPorts refuses ports that do not exist: the schema only sees that an address has the form of one.
func (e *Environment) checkPorts() error {
	var problems []error
	mirrors, _ := at(e.Values(Management), "cluster.registry_mirrors")
	list, _ := mirrors.([]any)
	for i := range list {
		for _, key := range []string{"host", "url"} {
			path := fmt.Sprintf("cluster.registry_mirrors.%d.%s", i, key)
			address, _ := e.path(path).(string)
			if key == "host" {
				address = "//" + address
			}
			parsed, err := url.Parse(address)
			if err != nil || parsed.Port() == "" {
				continue
			}
			if port, err := strconv.Atoi(parsed.Port()); err != nil || port < 1 || port > 65535 {
				problems = append(problems, fault.New(fault.ValuesInvalid, fmt.Sprintf("%s%s: there is no port %s", e.whence(path), path, parsed.Port()),
					"Give a port from 1 to 65535."))
			}
		}
	}
	return fault.Join(problems...)
}
