package environment

// managedAddress are the keys of the value with the floating IP that cluster-init has made for the API server.
func managedAddress() []string {
	return []string{"cluster", "openstack", "api_server", "managed_floating_ip"}
}

// ManagesAddress reports whether cluster-init makes the floating IP of the API server: OpenStack has the machines, the
// API server is reached through a floating IP, and the user gives none. It is false if only names are known.
func (e *Environment) ManagesAddress() bool {
	if e.installed || e.addressLeft || e.namesOnly {
		return false
	}
	manages, err := e.renderTemplate(e.lasting(), "managesAddress")
	return err == nil && manages != ""
}

// ManagedAddress is the floating IP that cluster-init has made for the API server. Empty means that it is not known.
func (e *Environment) ManagedAddress() string { return e.openstack.APIServer.ManagedFloatingIP }

// WithManagedAddress returns the environment with the floating IP that cluster-init has made.
func (e *Environment) WithManagedAddress(address string) (*Environment, error) {
	return e.WithOverrides(keptValues{}.with(managedAddress(), address))
}

// KeepAddress returns the environment with the floating IP that a cluster was last given. If it was given none, the
// provider has made its address, or will: the provider's webhook refuses another one later. Then the address is left to
// the provider.
func (e *Environment) KeepAddress(given Objects) (*Environment, error) {
	last, err := given.documents()
	if err != nil || last.values == nil || !e.ManagesAddress() || e.ManagedAddress() != "" {
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
