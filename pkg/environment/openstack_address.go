package environment

// managedAddress are the keys of the value with the floating IP that cluster-init has made for the API server.
func managedAddress() []string {
	return []string{"cluster", "openstack", "api_server", "managed_floating_ip"}
}

// ManagesAddress reports whether cluster-init makes or reserves the address of the API server: OpenStack has the
// machines, and the API server is reached through a virtual address, or through a floating IP of which the user gives
// none. It is false if only names are known.
func (e *Environment) ManagesAddress() bool {
	if e.installed || e.addressLeft || e.namesOnly {
		return false
	}
	manages, err := e.renderTemplate(e.lasting(), "managesAddress")
	return err == nil && manages != ""
}

// ReservesAddress reports whether the API server has a virtual address, which the values name. cluster-init reserves
// it, if it manages the address.
func (e *Environment) ReservesAddress() bool { return e.openstack.APIServer.Mode == APIServerVIP }

// ManagedAddress is the floating IP that cluster-init has made for the API server, or the virtual address that this run
// has found reserved. Empty means that it is not known.
func (e *Environment) ManagedAddress() string {
	switch {
	case !e.ReservesAddress():
		return e.openstack.APIServer.ManagedFloatingIP
	case e.reserved == e.openstack.APIServer.FixedIP:
		return e.reserved
	}
	return ""
}

// LacksAddress reports whether the definitions have no address of the API server before cluster-init makes it.
func (e *Environment) LacksAddress() bool {
	return e.ManagesAddress() && !e.ReservesAddress() && e.ManagedAddress() == ""
}

// WithManagedAddress returns the environment with the address that cluster-init has made or reserved.
func (e *Environment) WithManagedAddress(address string) (*Environment, error) {
	if e.ReservesAddress() {
		with := *e
		with.reserved = address
		return &with, nil
	}
	return e.WithOverrides(keptValues{}.with(managedAddress(), address))
}

// KeepAddress returns the environment with the floating IP that a cluster was last given. If it was given none, the
// provider has made its address, or will: the provider's webhook refuses another one later. Then the address is left to
// the provider. A virtual address can be reserved at any time.
func (e *Environment) KeepAddress(given Objects) (*Environment, error) {
	last, err := given.documents()
	if err != nil || last.values == nil || !e.LacksAddress() {
		return e, err
	}
	value, _ := below(last.normalized().merged(), managedAddress())
	if address, _ := value.(string); address != "" {
		return e.WithManagedAddress(address)
	}
	return e.LeaveAddress(), nil
}

// LeaveAddress returns the environment of a cluster whose floating IP is the provider's: cluster-init makes none.
func (e *Environment) LeaveAddress() *Environment {
	left := *e
	left.addressLeft = true
	return &left
}

// AddressWarning says, for people, that the provider deletes the cluster's address with its machine. Empty means that
// this is not so.
func (e *Environment) AddressWarning() string {
	if !e.addressLeft {
		return ""
	}
	return "the provider made the floating IP of the API server, and deletes it with the control-plane machine that " +
		"has it: do not replace that machine. A new cluster gets a floating IP that stays"
}

// keepsAddress reports whether the values say how the API server is reached: OpenStack has the machines.
func (e *Environment) keepsAddress() bool {
	keeps, err := e.renderTemplate(e.lasting(), "keepsAddress")
	return err != nil || keeps != "" // an unknown result is refused, and can be allowed
}

// movesAddress returns what a change of a value takes from a cluster whose machines and kubeconfigs have the address of
// the API server. Empty means nothing. The provider's webhook does not see a change between APIServerVIP and
// APIServerFixedIP.
func movesAddress(key string) string {
	switch key {
	case "cluster.openstack.api_server.mode", "cluster.openstack.api_server.fixed_ip":
		return "all machines and kubeconfigs have the address of the API server: it cannot change"
	case "cluster.openstack.api_server.vrrp_router_id":
		return "machines with the former number and machines with this one would both take the address"
	}
	return ""
}

// withoutAddress returns values without the floating IP that cluster-init has made: the user did not set it.
func withoutAddress(values map[string]any) map[string]any {
	keys := managedAddress()
	if _, there := below(values, keys); !there {
		return values
	}
	return without(values, keys)
}

// without returns a copy of values without the one at the path of keys, and without the maps that are then empty.
func without(values map[string]any, keys []string) map[string]any {
	rest := map[string]any{}
	for key, value := range values {
		nested, isMap := value.(map[string]any)
		switch {
		case key != keys[0]:
			rest[key] = value
		case len(keys) > 1 && isMap:
			if inner := without(nested, keys[1:]); len(inner) > 0 {
				rest[key] = inner
			}
		}
	}
	return rest
}
