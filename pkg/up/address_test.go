package up

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// addressed is a provider with an address.
type addressed struct {
	provider.Provider
	there provider.Address
	err   error
	made  *bool

	machine string // that gets the address
}

func (a addressed) FindAddress(context.Context, *environment.Environment) (provider.Address, error) {
	return a.there, a.err
}

func (a addressed) MakeAddress(_ context.Context, env *environment.Environment) (provider.Address, error) {
	*a.made = true
	if env.ReservesAddress() {
		return provider.Address{Address: env.OpenStack().APIServer.FixedIP, Marked: true}, a.err
	}
	return provider.Address{Address: "203.0.113.8", Marked: true}, a.err
}

func (a addressed) MoveAddress(context.Context, *environment.Environment, []string) (string, error) {
	return a.machine, a.err
}

func onOpenStack(t *testing.T, sets ...string) *environment.Environment {
	t.Helper()
	return loaded(t, environment.Options{Name: "kubeadm-capo", Variables: variables(map[string]string{
		"OPENSTACK_CLOUD": "telco", "OPENSTACK_IMAGE_NAME": "image", "OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "big",
		"OPENSTACK_NODE_MACHINE_FLAVOR": "small", "OPENSTACK_EXTERNAL_NETWORK": "public",
		// {telco: {auth: {auth_url: "https://c"}}}
		"OPENSTACK_CLOUD_YAML_B64": "Y2xvdWRzOiB7dGVsY286IHthdXRoOiB7YXV0aF91cmw6ICJodHRwczovL2MifX19Cg==",
	}), Sets: sets})
}

func withVirtualAddress(t *testing.T) *environment.Environment {
	t.Helper()
	return onOpenStack(t, "cluster.openstack.network=machines", "cluster.openstack.api_server.mode=vip",
		"cluster.openstack.api_server.fixed_ip=10.0.0.9", "cluster.openstack.api_server.keepalived_image=k")
}

// The look finds the address without making one; the phase makes it unless it was found. None is made for a cluster
// that has one of another owner.
func TestTheAddressIsMadeBeforeAnythingRefersToIt(t *testing.T) {
	there := provider.Address{Address: "203.0.113.9", Marked: true}
	unfinished := provider.Address{Address: "203.0.113.8"}
	for name, tc := range map[string]struct {
		env   *environment.Environment
		there provider.Address
		made  bool
		want  string
	}{
		"none":              {onOpenStack(t), provider.Address{}, true, "203.0.113.8"},
		"one without a tag": {onOpenStack(t), unfinished, true, "203.0.113.8"},
		"one is there":      {onOpenStack(t), there, false, "203.0.113.9"},
		"the controllers'":  {onOpenStack(t), provider.Address{Foreign: true}, false, ""},
		"the user's": {onOpenStack(t, "cluster.openstack.api_server.floating_ip=203.0.113.7"), there, false,
			""},
		"another provider's":             {loaded(t, environment.Options{Name: "kubeadm-capd"}), there, false, ""},
		"a virtual one that nothing has": {withVirtualAddress(t), provider.Address{}, true, "10.0.0.9"},
		"a virtual one without a tag": {withVirtualAddress(t), provider.Address{Address: "10.0.0.9"}, true,
			"10.0.0.9"},
		"a virtual one that is reserved": {withVirtualAddress(t), provider.Address{Address: "10.0.0.9", Marked: true},
			false, "10.0.0.9"},
	} {
		t.Run(name, func(t *testing.T) {
			made := false
			p := addressed{there: tc.there, made: &made}
			env, err := provider.WithAddress(t.Context(), p, tc.env, silence{})
			if err != nil || made {
				t.Fatalf("the look: %v, made %t", err, made)
			}
			phase := address{provider: p, environment: env, apply: func(e *environment.Environment) { env = e }}
			status, err := phase.check(t.Context())
			if err != nil || (status.State == pipeline.Pending) != tc.made {
				t.Errorf("check: %+v, %v", status, err)
			}
			if status.State == pipeline.Pending {
				if err := phase.run(t.Context(), silence{}); err != nil {
					t.Error(err)
				}
			}
			if made != tc.made || env.ManagedAddress() != tc.want {
				t.Errorf("made %t, the address is %q", made, env.ManagedAddress())
			}
		})
	}
	silent := errors.New("the cloud does not answer")
	_, err := provider.WithAddress(t.Context(), addressed{err: silent}, onOpenStack(t), silence{})
	if !errors.Is(err, silent) {
		t.Errorf("it is not known whether there is one: %v", err)
	}
	made, applied := false, false
	err = address{provider: addressed{err: silent, made: &made}, environment: onOpenStack(t),
		apply: func(*environment.Environment) { applied = true }}.run(t.Context(), silence{})
	if !errors.Is(err, silent) || applied {
		t.Errorf("it is not made: %v, applied %t", err, applied)
	}
}

// A run that resumes keeps the address of the run before. A Cluster that was given none gets none later.
func TestAnUnfinishedClusterKeepsItsAddress(t *testing.T) {
	plain := onOpenStack(t)
	with, err := plain.WithManagedAddress("203.0.113.8")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		given   *environment.Environment
		cluster bool
		want    string
		left    bool
	}{
		"one with an address":                   {with, true, "203.0.113.8", false},
		"one with an address, no Cluster yet":   {with, false, "203.0.113.8", false},
		"one without":                           {plain, true, "", true},
		"one without, and there is no Cluster ": {plain, false, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			given, err := tc.given.Objects()
			if err != nil {
				t.Fatal(err)
			}
			o := clusters.Observation{Bootstrap: clusters.BootstrapSide{State: clusters.BootstrapActive,
				Cluster: clusterOf(t, nil, given.Values, given.Secrets, given.InfraSecrets)}}
			if tc.cluster {
				o.Bootstrap.Holds = clusters.Holding{Clusters: []capi.Cluster{{Object: capi.Object{Kind: "Cluster",
					Namespace: "management", Name: "kubeadm-capo"}}}}
			}
			applied, err := changes{environment: plain}.check(t.Context(), o, verdict{decision: beforePivot}, silence{})
			if err != nil || applied.ManagedAddress() != tc.want || (applied.AddressWarning() != "") != tc.left ||
				applied.ManagesAddress() == tc.left {
				t.Errorf("%v, %q, %q", err, applied.ManagedAddress(), applied.AddressWarning())
			}
		})
	}
}

// Only an address that was given to a machine is a reason to wait longer for the API server.
func TestAnAddressWithoutAMachineIsMoved(t *testing.T) {
	with, err := onOpenStack(t).WithManagedAddress("203.0.113.8")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		p    provider.Provider
		env  *environment.Environment
		want bool
	}{
		"it is moved":        {addressed{machine: "cp-2"}, with, true},
		"a machine has it":   {addressed{}, with, false},
		"no answer":          {addressed{err: errors.New("503")}, with, false},
		"no address of ours": {addressed{machine: "cp-2"}, onOpenStack(t), false},
		"another provider":   {nil, with, false},
	} {
		r := releases{provider: tc.p, environment: tc.env}
		if got := r.moveAddress(silence{})(t.Context(), nil); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestTheDryRunNamesTheNetworkOfTheAddress(t *testing.T) {
	if does, err := (address{environment: onOpenStack(t)}).does(); err != nil || !strings.Contains(does, "public") {
		t.Errorf("%q, %v", does, err)
	}
	if does, err := (address{environment: withVirtualAddress(t)}).does(); err != nil ||
		does != "reserve the address 10.0.0.9 for the API server in the network machines" {
		t.Errorf("%q, %v", does, err)
	}
}
