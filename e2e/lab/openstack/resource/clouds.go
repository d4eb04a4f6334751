package resource

import (
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

// Entry returns the entry of a clouds.yaml for a login.
func Entry(installation configuration.Installation, login Login) map[string]any {
	return map[string]any{
		"region_name": configuration.Region,
		"auth": map[string]any{
			"auth_url": installation.Identity(), "username": login.User, "password": login.Password,
			"project_name": login.Project, "user_domain_name": domain, "project_domain_name": domain,
		},
	}
}

// CloudsYAML returns a clouds.yaml with one entry.
func CloudsYAML(name string, entry map[string]any) ([]byte, error) {
	return yaml.Marshal(map[string]any{"clouds": map[string]any{name: entry}})
}

// ChangeClouds has change work on the entries of a clouds.yaml, and writes them. The file need not exist. The caller
// keeps others from doing the same at once.
func ChangeClouds(file string, change func(entries map[string]any)) error {
	content, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the clouds: %w", err)
	}
	clouds := struct {
		Clouds map[string]any `json:"clouds"`
	}{}
	if err := yaml.Unmarshal(content, &clouds); err != nil {
		return fmt.Errorf("read the clouds in %s: %w", file, err)
	}
	if clouds.Clouds == nil {
		clouds.Clouds = map[string]any{}
	}
	change(clouds.Clouds)
	if content, err = yaml.Marshal(clouds); err != nil {
		return fmt.Errorf("write the clouds: %w", err)
	}
	return configuration.Write(file, content)
}

// PasswordOf returns the password in an entry of a clouds.yaml, "" when there is none.
func PasswordOf(entry any) string {
	fields, _ := entry.(map[string]any)
	auth, _ := fields["auth"].(map[string]any)
	password, _ := auth["password"].(string)
	return password
}
