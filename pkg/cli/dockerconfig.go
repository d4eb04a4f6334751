package cli

import (
	"encoding/json"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// dockerConfig returns the user's credentials for one registry, from their Docker configuration, in the form of a
// pull secret. Nil means that they have none for it.
func dockerConfig(prefix string) ([]byte, error) {
	repository, err := name.NewRepository(prefix + "/cluster-init")
	if err != nil {
		return nil, fault.Wrap(fmt.Errorf("reading --source-url: %w", err), fault.Usage, "Give oci://HOST/PREFIX.")
	}
	authenticator, err := authn.DefaultKeychain.Resolve(repository)
	if err != nil {
		return nil, fmt.Errorf("looking for credentials of %s in the Docker configuration: %w",
			repository.RegistryStr(), err)
	}
	if authenticator == authn.Anonymous {
		return nil, nil
	}
	config, err := authenticator.Authorization()
	if err != nil {
		return nil, fmt.Errorf("reading the credentials of %s: %w", repository.RegistryStr(), err)
	}
	encoded, err := json.Marshal(map[string]any{"auths": map[string]any{repository.RegistryStr(): config}})
	if err != nil {
		return nil, fmt.Errorf("encoding the credentials of %s: %w", repository.RegistryStr(), err)
	}
	return encoded, nil
}
