package rollout

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Given reads the objects that carry the values which a cluster was last given; nil where one does not exist.
func Given(ctx context.Context, c *kube.Cluster) (environment.Objects, error) {
	values, secrets, infra := &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Secret{}
	var given environment.Objects
	read := func(name string, o client.Object) (bool, error) {
		o.SetNamespace(environment.Namespace)
		o.SetName(name)
		return c.Exists(ctx, o)
	}
	there, err := read(environment.ValuesName, values)
	if there {
		given.Values = values
	}
	thereSecrets, errSecrets := read(environment.SecretsName, secrets)
	if thereSecrets {
		given.Secrets = secrets
	}
	thereInfra, errInfra := read(environment.InfraSecretsName, infra)
	if thereInfra {
		given.InfraSecrets = infra
	}
	return given, errors.Join(err, errSecrets, errInfra)
}
