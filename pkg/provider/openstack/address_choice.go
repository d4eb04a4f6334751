package openstack

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// choose returns the floating IP of the cluster's API server among all of the project. It is nil if none was made.
func (a addresses) choose(all []inventory.FloatingIP) (provider.Address, *inventory.FloatingIP, error) {
	if a.given != "" {
		return a.chooseGiven(all)
	}
	var ours []inventory.FloatingIP
	foreign := false
	for _, ip := range all {
		switch {
		case a.cluster.OwnsAddress(ip.Resource):
			ours = append(ours, ip)
		case ip.Port != "" && a.cluster.ProviderOwnsAddress(ip.Resource):
			foreign = true // a machine has it: a cluster runs without an address of ours
		}
	}
	if len(ours) == 0 {
		return provider.Address{Foreign: foreign}, nil, nil
	}
	slices.SortFunc(ours, compareAddresses)
	chosen := ours[0]
	found := provider.Address{Address: chosen.Name, Marked: a.isTagged(chosen)}
	for _, other := range ours[1:] {
		if other.Port != "" {
			return found, nil, fault.New(fault.CloudLacks,
				fmt.Sprintf("floating IPs %s and %s were both made for the API "+
					"server, and both are in use", chosen.Name, other.Name),
				"Disassociate the one that the kubeconfig does "+
					"not name: openstack floating ip unset --port ADDRESS.")
		}
		found.Warnings = append(found.Warnings, fmt.Sprintf("floating IP %s was made for the API server too, and is "+
			"not used: openstack floating ip delete %s", other.Name, other.ID))
	}
	return found, &chosen, nil
}

// chooseGiven finds the address that the cluster was given: another one cannot take its place.
func (a addresses) chooseGiven(all []inventory.FloatingIP) (provider.Address, *inventory.FloatingIP, error) {
	for _, ip := range all {
		if ip.Name == a.given {
			if other := a.cluster.ClaimedBy(ip.Resource); other != "" {
				return provider.Address{}, nil, fault.New(fault.CloudLacks,
					fmt.Sprintf("the cluster has the floating IP %s, which was made for the API server of %s",
						ip.Name, other),
					"Give each cluster a floating IP of its own: see cluster.openstack.api_server.")
			}
			// One without marks was made again by an administrator: it is used, and not deleted.
			return provider.Address{Address: ip.Name, Marked: a.isTagged(ip) || !a.cluster.OwnsAddress(ip.Resource)},
				&ip,
				nil
		}
	}
	return provider.Address{}, nil, fault.New(fault.CloudLacks,
		fmt.Sprintf("the cluster has the floating IP %s, and the "+
			"project has no such one any more", a.given),
		"The address of a cluster cannot change. Have an administrator of the cloud make it again: openstack "+
			"floating ip create --floating-ip-address "+a.given+" --project PROJECT EXTERNAL-NETWORK.")
}

func (a addresses) isTagged(ip inventory.FloatingIP) bool {
	return slices.Contains(ip.Tags, a.cluster.Tag())
}

// compareAddresses orders floating IPs so that each run chooses the same one: one in use, then the oldest.
func compareAddresses(a, b inventory.FloatingIP) int {
	unused := func(ip inventory.FloatingIP) int {
		if ip.Port == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(unused(a), unused(b)), a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}
