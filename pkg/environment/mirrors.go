package environment

import "slices"

// WithRegistryMirrors returns a copy whose machines pull through more mirrors. For one registry, a mirror of the user's
// values files and --set wins over these, and these win over the environment's own files. only sets Only for all
// mirrors.
func (e *Environment) WithRegistryMirrors(mirrors []RegistryMirror, only bool) (*Environment, error) {
	if len(mirrors) == 0 {
		return e, nil
	}
	mirrors = slices.Clone(mirrors)
	joined := e.spec.Cluster.RegistryMirrors
	if len(joined) > 0 && !slices.ContainsFunc(joined, func(m RegistryMirror) bool { return !m.Only }) {
		for i := range mirrors { // if no original registry is used, a flag does not start that
			mirrors[i].Only = true
		}
	}
	if _, byUser := at(e.user, "cluster.registry_mirrors"); byUser {
		joined = join(joined, mirrors)
	} else {
		joined = join(mirrors, joined)
	}
	list := make([]any, 0, len(joined))
	for _, m := range joined {
		mirror := map[string]any{
			"host": m.Host, "url": m.URL, "override_path": m.OverridePath, "skip_verify": m.SkipVerify,
			"only": m.Only || only,
		}
		if m.CA != "" {
			mirror["ca"] = m.CA
		}
		list = append(list, mirror)
	}
	merged := *e
	// They override all other values, and include the user's.
	merged.user = merge(e.user, map[string]any{"cluster": map[string]any{"registry_mirrors": list}})
	merged.settle(e.documents.with(e.overrides).with(merged.user))
	if err := merged.accept(); err != nil {
		return nil, err
	}
	return &merged, nil
}

// join adds to first those of second for other registries.
func join(first, second []RegistryMirror) []RegistryMirror {
	joined := slices.Clone(first)
	for _, mirror := range second {
		if !slices.ContainsFunc(first, func(m RegistryMirror) bool { return m.Host == mirror.Host }) {
			joined = append(joined, mirror)
		}
	}
	return joined
}
