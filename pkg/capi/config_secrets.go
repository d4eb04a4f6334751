package capi

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var kubeadmConfigKind = schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1beta2",
	Kind: "KubeadmConfig"}

// kubeadmConfig is the part of a KubeadmConfig that is needed: the Secrets that its files come from.
type kubeadmConfig struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Files []struct {
			ContentFrom struct {
				Secret struct {
					Name string `json:"name"`
				} `json:"secret"`
			} `json:"contentFrom"`
		} `json:"files"`
	} `json:"spec"`
}

// ControlPlaneSecrets returns the names of the Secrets that the files of a cluster's control-plane machines come from,
// by the name of each machine's KubeadmConfig.
func ControlPlaneSecrets(ctx context.Context, c client.Reader, namespace, cluster string) (map[string][]string,
	error) {
	configs, err := list[kubeadmConfig](ctx, c, kubeadmConfigKind, client.InNamespace(namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: cluster},
		client.HasLabels{clusterv1.MachineControlPlaneLabel})
	if err != nil {
		return nil, err
	}
	secrets := map[string][]string{}
	for _, config := range configs {
		names := []string{}
		for _, file := range config.Spec.Files {
			if name := file.ContentFrom.Secret.Name; name != "" {
				names = append(names, name)
			}
		}
		secrets[config.Metadata.Name] = names
	}
	return secrets, nil
}
