package rollout

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// RefuseUnfinishedKeys returns an error if changes of the values concern the keys that encrypt Secrets, and a
// control-plane machine does not have the keys of the last values yet. It could not read what others would encrypt. The
// cluster c has the machines' configuration.
func RefuseUnfinishedKeys(ctx context.Context, c *kube.Cluster, env *environment.Environment, last environment.Objects,
	changes []environment.Change) error {
	if !environment.ChangesEncryption(changes) {
		return nil
	}
	const again = "Run the same command again when they can be read."
	want, err := env.EncryptionSecret(last)
	if err != nil {
		return fault.Wrap(fmt.Errorf("read the last keys of Secrets: %w", err), fault.ChangeRefused,
			"Use the last keys again.")
	}
	machines, err := capi.ControlPlaneSecrets(ctx, c, env.ClusterNamespace(), env.ClusterName())
	if err != nil {
		return fault.Wrap(fmt.Errorf("read which keys of Secrets the control-plane machines have: %w", err),
			fault.ClusterUnreachable, again)
	}
	without := lacking(machines, want)
	if len(without) == 0 {
		return nil
	}
	// Back to what all machines have is always possible: the last values may be wrong.
	if next, err := env.Objects(); err == nil {
		if want, err := env.EncryptionSecret(next); err == nil && len(lacking(machines, want)) == 0 {
			return nil
		}
	}
	return fault.New(fault.ChangeRefused, fmt.Sprintf("cluster.kubernetes.encryption_at_rest changes, but machines do "+
		"not have the keys of the last run yet: %s", strings.Join(without, ", ")),
		"Nothing was changed. Run with the last values until the control plane is replaced, then make this change.")
}

// lacking returns the machines whose keys are not those of a Secret, by name. An empty name stands for no keys.
func lacking(machines map[string][]string, secret string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(machines)) {
		var keys []string
		for _, s := range machines[name] {
			if environment.IsEncryptionSecret(s) {
				keys = append(keys, s)
			}
		}
		if strings.Join(keys, " ") != secret {
			names = append(names, name)
		}
	}
	return names
}
