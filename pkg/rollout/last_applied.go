package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// LastAppliedValues reads the objects with the values that a cluster was last given. It returns nil for those that do
// not exist.
func LastAppliedValues(ctx context.Context, c *kube.Cluster) (environment.Objects, error) {
	named := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: environment.Namespace, Name: name}
	}
	return ReadValues(ctx, c, environment.Objects{
		Values:       &corev1.ConfigMap{ObjectMeta: named(environment.ValuesName)},
		Secrets:      &corev1.Secret{ObjectMeta: named(environment.SecretsName)},
		InfraSecrets: &corev1.Secret{ObjectMeta: named(environment.InfraSecretsName)}})
}

// ReadValues reads the objects with these names. It returns nil for those that do not exist.
func ReadValues(ctx context.Context, c *kube.Cluster, names environment.Objects) (environment.Objects, error) {
	values, secrets, infra := &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Secret{}
	var given environment.Objects
	read := func(named, o client.Object) (bool, error) {
		o.SetNamespace(named.GetNamespace())
		o.SetName(named.GetName())
		return c.Exists(ctx, o)
	}
	there, err := read(names.Values, values)
	if there {
		given.Values = values
	}
	thereSecrets, errSecrets := read(names.Secrets, secrets)
	if thereSecrets {
		given.Secrets = secrets
	}
	thereInfra, errInfra := read(names.InfraSecrets, infra)
	if thereInfra {
		given.InfraSecrets = infra
	}
	return given, errors.Join(err, errSecrets, errInfra)
}

// Applied returns an environment as a run applies it to a cluster. It adds the stored values that flags and the shell
// once gave, if they were for the same management cluster.
func Applied(ctx context.Context, c *kube.Cluster, env *environment.Environment) (*environment.Environment, error) {
	last, err := LastAppliedValues(ctx, c)
	if err == nil && last.Values != nil && last.Values.Labels[owned.ClusterLabel] == env.ClusterName() {
		env, err = keep(env, last)
	}
	if err != nil {
		return nil, fmt.Errorf("read the values that the %s cluster was last given: %w", c.Name, err)
	}
	return env, nil
}

// keep returns an environment with the stored values that flags and the shell once gave. It is that of an existing
// cluster if the values are.
func keep(env *environment.Environment, last environment.Objects) (*environment.Environment, error) {
	var err error
	if last.Values.Annotations[owned.InstalledAnnotation] == env.SelfName() {
		if env, err = env.AsInstalled(); err != nil {
			return nil, err
		}
	}
	env, err = env.KeepFlags(last)
	if err != nil {
		return nil, err
	}
	env, _, err = env.Keep(last, nil)
	return env, err
}

// Differences returns how the values of an environment differ from those that a cluster was last given. whose names the
// management cluster that those were for; empty means there are none. It compares only values for the environment's own
// cluster.
func Differences(ctx context.Context, c *kube.Cluster, env *environment.Environment) (differ []environment.Change,
	whose string, err error) {
	last, err := LastAppliedValues(ctx, c)
	if err != nil {
		return nil, "", fmt.Errorf("read the values that the %s cluster was last given: %w", c.Name, err)
	}
	if last.Values == nil {
		return nil, "", nil
	}
	if whose = last.Values.Labels[owned.ClusterLabel]; whose != env.ClusterName() {
		return nil, cmp.Or(whose, "an unknown cluster"), nil
	}
	kept, err := keep(env, last)
	if err == nil {
		differ, err = kept.Changes(last)
	}
	if err != nil {
		return nil, whose, fmt.Errorf("compare with the values that the %s cluster was last given: %w", c.Name, err)
	}
	return differ, whose, nil
}
