package environment_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

const (
	managed = "cluster.openstack.api_server.managed_floating_ip"
	made    = "203.0.113.8"
)

// cluster-init makes the address of those clusters only whose API server has a floating IP, and no other one's.
func TestWhoseAddressIsMade(t *testing.T) {
	const api = "cluster.openstack.api_server."
	for name, tc := range map[string]struct {
		env  *environment.Environment
		want bool
	}{
		"a floating IP":       {capo(t, "kubeadm-capo", nil), true},
		"of RKE2":             {capo(t, "rke2-capo", nil), true},
		"one that is known":   {capo(t, "kubeadm-capo", nil, managed+"="+made), true},
		"the user's own":      {capo(t, "kubeadm-capo", nil, api+"floating_ip=203.0.113.7"), false},
		"a load balancer":     {capo(t, "kubeadm-capo", nil, api+"mode=octavia"), false},
		"a virtual address":   {capo(t, "kubeadm-capo", nil, openstackCases()["kubeadm-capo.vip"].sets...), true},
		"the user's address":  {capo(t, "kubeadm-capo", nil, openstackCases()["kubeadm-capo.fixed-ip"].sets...), false},
		"on another provider": {load(t, environment.Options{Name: "kubeadm-capd"}), false},
	} {
		if got := tc.env.ManagesAddress(); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	installed := capo(t, "kubeadm-capo", nil)
	installed, err := installed.AsInstalled()
	if err != nil || installed.ManagesAddress() {
		t.Errorf("an existing cluster: %v", err)
	}
}

// A cluster keeps the address that it was given. If it was given none, it gets none later: the provider's webhook
// refuses that, so the address is the provider's and the cluster can lose it.
func TestAClusterKeepsItsAddress(t *testing.T) {
	env := capo(t, "kubeadm-capo", nil)
	with, err := env.WithManagedAddress(made)
	if err != nil || with.ManagedAddress() != made || with.AddressWarning() != "" {
		t.Fatalf("with an address: %v, %q", err, with.AddressWarning())
	}
	stored := func(of *environment.Environment) environment.Objects {
		objects, err := of.Objects()
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	kept, _, err := env.Keep(stored(with), nil)
	if err != nil || kept.ManagedAddress() != made || !kept.ManagesAddress() {
		t.Errorf("a cluster with an address: %v, %q", err, kept.ManagedAddress())
	}
	if changes, err := kept.Changes(stored(with)); err != nil || len(changes) > 0 {
		t.Errorf("it differs: %v, %v", changes, err)
	}
	if flags, err := env.KeepFlags(stored(with)); err != nil || flags.ManagedAddress() != "" {
		t.Errorf("the address is no flag: %v, %q", err, flags.ManagedAddress())
	}
	left, _, err := env.Keep(stored(env), nil)
	if err != nil || left.ManagesAddress() || left.ManagedAddress() != "" ||
		!strings.Contains(left.AddressWarning(), "deletes it with the control-plane machine") {
		t.Errorf("a cluster without: %v, %q", err, left.AddressWarning())
	}
	if changes, err := left.Changes(stored(env)); err != nil || len(changes) > 0 {
		t.Errorf("it differs: %v, %v", changes, err)
	}
	fresh, _, err := env.Keep(environment.Objects{}, nil)
	if err != nil || !fresh.ManagesAddress() || fresh.AddressWarning() != "" {
		t.Errorf("a new cluster: %v", err)
	}
}

// A virtual address is a value from the start. It counts as managed once it is known to be reserved, and a cluster that
// was made without is not left to the provider.
func TestAVirtualAddressIsReserved(t *testing.T) {
	env := capo(t, "kubeadm-capo", nil, openstackCases()["kubeadm-capo.vip"].sets...)
	if env.ManagedAddress() != "" || env.LacksAddress() || !env.ReservesAddress() {
		t.Errorf("before: %q", env.ManagedAddress())
	}
	given, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	reserved, err := env.WithManagedAddress("10.0.0.9")
	if err != nil || reserved.ManagedAddress() != "10.0.0.9" || env.ManagedAddress() != "" {
		t.Errorf("reserved: %v, %q", err, reserved.ManagedAddress())
	}
	if changes, err := reserved.Changes(given); err != nil || len(changes) > 0 {
		t.Errorf("the cluster is given something else: %v, %v", changes, err)
	}
	if other, err := env.WithManagedAddress("10.0.0.8"); err != nil || other.ManagedAddress() != "" {
		t.Errorf("another address: %v, %q", err, other.ManagedAddress())
	}
	kept, _, err := env.Keep(given, nil)
	if err != nil || !kept.ManagesAddress() || kept.AddressWarning() != "" {
		t.Errorf("a later run: %v, %q", err, kept.AddressWarning())
	}
	if plain := capo(t, "kubeadm-capo", nil); !plain.LacksAddress() || plain.ReservesAddress() {
		t.Error("a floating IP that is not made yet is not lacking")
	}
}

// The shell of a later run may name an address. The cluster keeps its own.
func TestTheShellDoesNotReplaceTheAddress(t *testing.T) {
	with, err := capo(t, "kubeadm-capo", nil).WithManagedAddress(made)
	if err != nil {
		t.Fatal(err)
	}
	given, err := with.Objects()
	if err != nil {
		t.Fatal(err)
	}
	later := capo(t, "kubeadm-capo", map[string]string{"OPENSTACK_API_SERVER_FLOATING_IP": "203.0.113.7"})
	kept, list, err := later.Keep(given, nil)
	if err != nil || len(list) != 1 || kept.ManagedAddress() != made || kept.OpenStack().APIServer.FloatingIP != "" {
		t.Errorf("%v, %v, %+v", err, list, kept.OpenStack().APIServer)
	}
}
