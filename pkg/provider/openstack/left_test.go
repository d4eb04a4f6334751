package openstack

import (
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Credentials that cannot be used are those of a cloud that then goes unchecked: they are not the same as none.
func TestUnusableCredentialsAreNotNone(t *testing.T) {
	variables := func(pairs ...string) func(string) (string, bool) {
		given := map[string]string{"XDG_CONFIG_HOME": t.TempDir()}
		for i := 0; i < len(pairs); i += 2 {
			given[pairs[i]] = pairs[i+1]
		}
		return func(name string) (string, bool) {
			value, ok := given[name]
			return value, ok
		}
	}
	if found, err := LeftoversIn(t.Context(), variables(), "management", "one"); found != nil || err != nil {
		t.Errorf("without credentials: %v, %v", found, err)
	}
	for name, lookup := range map[string]func(string) (string, bool){
		"incomplete":    variables("OS_AUTH_URL", "https://k/v3", "OS_USERNAME", "ada"),
		"contradictory": variables("OS_CLOUD", "one", "OPENSTACK_CLOUD", "two"),
		"unreadable":    variables("OPENSTACK_CLOUD_YAML_B64", "%"),
		"an absent file": variables("OS_CLOUD", "one", "OS_CLIENT_CONFIG_FILE",
			t.TempDir()+"/absent.yaml"),
	} {
		found, err := LeftoversIn(t.Context(), lookup, "management", "one")
		if found != nil || fault.CodeOf(err) != fault.CredentialsMissing {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}
