//go:build e2e

package e2e

import (
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/applicationcredentials"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// applicationCredential makes a user an application credential, and returns the user's clouds.yaml with that in the
// password's place, and its secret.
func applicationCredential(t *testing.T, user *openstack.Client, cloud openstack.Cloud) (with openstack.Cloud,
	secret string) {
	t.Helper()
	token, is := user.Provider.GetAuthResult().(tokens.CreateResult)
	if !is {
		t.Fatal("the login was none of version 3")
	}
	self, err := token.ExtractUser()
	must(t, err)
	const name = "cluster-init"
	// A run of this test that was killed has left one: its secret cannot be read any more.
	pages, err := applicationcredentials.List(user.Identity, self.ID,
		applicationcredentials.ListOpts{Name: name}).AllPages(t.Context())
	must(t, err)
	left, err := applicationcredentials.ExtractApplicationCredentials(pages)
	must(t, err)
	for _, credential := range left {
		must(t, applicationcredentials.Delete(t.Context(), user.Identity, self.ID, credential.ID).ExtractErr())
	}
	made, err := applicationcredentials.Create(t.Context(), user.Identity, self.ID,
		applicationcredentials.CreateOpts{Name: name}).Extract()
	must(t, err)
	var file struct {
		Clouds map[string]map[string]any `json:"clouds"`
	}
	must(t, yaml.Unmarshal(cloud.Config, &file))
	entry := file.Clouds[cloud.Name]
	url := entry["auth"].(map[string]any)["auth_url"]
	entry["auth_type"] = "v3applicationcredential"
	entry["auth"] = map[string]any{"auth_url": url, "application_credential_id": made.ID,
		"application_credential_secret": made.Secret}
	config, err := yaml.Marshal(file)
	must(t, err)
	return openstack.Cloud{Name: cloud.Name, Config: config}, made.Secret
}
