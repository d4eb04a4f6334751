package environment

// inherited are the values that belong to a place and not to a cluster: what machines pull images from, whom they
// trust, and how they reach the rest of the world.
func inherited() [][]string {
	return [][]string{{"cluster", "registry_mirrors"}, {"cluster", "trusted_cas"}, {"registry_secret"}, {"proxies"}}
}

// Inherit returns the environment of a workload cluster with those values of its management cluster that belong to
// their common place. given is what the management cluster was last given. Values of the environment's own win, unless
// they are empty.
func (e *Environment) Inherit(given Objects) (*Environment, error) {
	last, err := given.documents()
	if err != nil {
		return nil, err
	}
	before, own, over := last.normalized().merged(), e.effective.merged(), keptValues{}
	for _, keys := range inherited() {
		value, there := below(before, keys)
		if mine, _ := below(own, keys); there && !saysNothing(value) && saysNothing(mine) {
			over = over.with(keys, value)
		}
	}
	if len(over) == 0 {
		return e, nil
	}
	return e.WithOverrides(over)
}

// saysNothing reports whether a value has no text in it, at any depth.
func saysNothing(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		for _, each := range value {
			if !saysNothing(each) {
				return false
			}
		}
		return true
	}
	return false
}
