package capi

import (
	"context"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Provider is one installed Cluster API provider, identified by the Deployment of its controllers.
type Provider struct {
	Name      string // the value of the provider label, e.g. "infrastructure-docker"
	Namespace string
	Version   string // the image tag, else the digest, else "latest"
	Ready     bool   // all replicas of the latest spec are available
	Message   string // why it is not ready
}

// Providers returns the providers of a cluster, by name: the Deployments with the label cluster.x-k8s.io/provider. It
// does not use clusterctl's own inventory: only `clusterctl init` fills that.
func Providers(ctx context.Context, c client.Reader) ([]Provider, error) {
	docs, err := list[appsv1.Deployment](ctx, c, appsv1.SchemeGroupVersion.WithKind("Deployment"),
		client.HasLabels{clusterv1.ProviderNameLabel})
	if err != nil {
		return nil, err
	}
	providers := make([]Provider, 0, len(docs))
	for i := range docs {
		d := &docs[i]
		p := Provider{
			Name: d.Labels[clusterv1.ProviderNameLabel], Namespace: d.Namespace,
			Version: versionOf(d.Spec.Template.Spec.Containers),
		}
		p.Ready, p.Message = deploymentReady(d)
		providers = append(providers, p)
	}
	slices.SortFunc(providers, func(a, b Provider) int {
		return strings.Compare(a.Name+"/"+a.Namespace, b.Name+"/"+b.Namespace)
	})
	return providers, nil
}

// versionOf takes the version from the container "manager", which Cluster API's contract prescribes for a provider's
// controller, or from the first one.
func versionOf(containers []corev1.Container) string {
	if len(containers) == 0 {
		return ""
	}
	i := max(0, slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == "manager" }))
	image := containers[i].Image
	name, digest, pinned := strings.Cut(image, "@")
	_, last, _ := cutLast(name, "/")
	if _, tag, tagged := strings.Cut(last, ":"); tagged {
		return tag
	}
	if pinned {
		return digest
	}
	return "latest"
}

// cutLast is strings.Cut at the last separator; without one, all of s is after it.
func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(separator):], true
}

func deploymentReady(d *appsv1.Deployment) (bool, string) {
	want := ptr.Deref(d.Spec.Replicas, 1)
	switch {
	case want == 0:
		return false, "scaled to zero"
	case d.Status.ObservedGeneration < d.Generation:
		return false, "its latest spec is not observed yet"
	case d.Status.UpdatedReplicas < want || d.Status.AvailableReplicas < want:
		for _, c := range d.Status.Conditions {
			if c.Type == appsv1.DeploymentAvailable && c.Status != corev1.ConditionTrue && c.Message != "" {
				return false, c.Message
			}
		}
		return false, "not all replicas are available"
	}
	return true, ""
}
