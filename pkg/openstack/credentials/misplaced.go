package credentials

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// besideAuth are the keys of an entry of a clouds.yaml at the same level as auth. No client reads them anywhere else.
func besideAuth() []string {
	return []string{"auth_type", "region_name", "regions", "interface", "endpoint_type", "verify", "insecure", "cacert",
		"cert", "key", "identity_api_version"}
}

// misplaced refuses keys that clients would silently ignore: they would verify TLS anyway, or use another region.
func (in files) misplaced(name string) error {
	entry := in.clouds.Clouds[name]
	where := fmt.Sprintf("cloud %q in %s", name, in.path)
	for i := 0; entry.Kind == yaml.MappingNode && i+1 < len(entry.Content); i += 2 {
		key, value := entry.Content[i], entry.Content[i+1]
		switch {
		case key.Value == "region" || key.Value == "skip_verify":
			instead := map[string]string{"region": "region_name: NAME", "skip_verify": "verify: false"}[key.Value]
			return missing(fmt.Sprintf("%s, line %d: no client reads %s", where, key.Line, key.Value), "Write it as "+
				instead+".")
		case key.Value == "auth" && value.Kind == yaml.AliasNode:
			value = value.Alias
			fallthrough
		case key.Value == "auth":
			if err := inAuth(where, value); err != nil {
				return err
			}
		}
	}
	for _, key := range in.clouds.keys {
		if slices.Contains(besideAuth(), key.Value) || key.Value == "region" {
			return missing(fmt.Sprintf("%s, line %d: %s is next to clouds, where no client reads it", in.path,
				key.Line, key.Value),
				fmt.Sprintf("Move it into the entry %q, to the level of its auth.", name))
		}
	}
	return nil
}

func inAuth(where string, auth *yaml.Node) error {
	for i := 0; auth.Kind == yaml.MappingNode && i+1 < len(auth.Content); i += 2 {
		if key := auth.Content[i]; slices.Contains(besideAuth(), key.Value) || key.Value == "region" {
			instead := key.Value
			if instead == "region" {
				instead = "region_name"
			}
			return missing(fmt.Sprintf("%s, line %d: %s is in auth, where no client reads it", where, key.Line,
				key.Value),
				"Write "+instead+" at the level of auth.")
		}
	}
	return nil
}
