package evidence

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/redact"
)

// secrets adds the values of Secrets to the redactor: those that redact.FromSecret selects, and none of Helm's. It
// writes a file that describes all Secrets, and reports success.
func (c Collector) secrets(ctx context.Context, f *folder, cluster *kube.Cluster) bool {
	return bounded(ctx, f, "Secrets of the "+cluster.Name+" cluster, so that a value of one of them may be found in "+
		"the other files", func(ctx context.Context) error {
		client, err := kubernetes.NewForConfig(cluster.Config)
		if err != nil {
			return err
		}
		list, err := client.CoreV1().Secrets(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var descriptions []map[string]any
		for _, s := range list.Items {
			if s.Type != redact.HelmRelease {
				for key, value := range s.Data {
					c.Redactor.Add(redact.FromSecret(key, string(value))...)
				}
			}
			descriptions = append(descriptions, describeSecret(s))
		}
		f.objects(cluster.Name+"/secrets.yaml", "names, types and keys of Secrets; no values", descriptions)
		return nil
	})
}

// describeSecret leaves out the values, and the annotations, because an annotation may repeat the values.
func describeSecret(s corev1.Secret) map[string]any {
	keys := []any{}
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		keys = append(keys, key)
	}
	var owners []any
	for _, o := range s.OwnerReferences {
		owners = append(owners, o.Kind+"/"+o.Name)
	}
	return map[string]any{
		"kind": "Secret", "namespace": s.Namespace, "name": s.Name, "type": string(s.Type), "keys": keys,
		"owners": owners, "created": s.CreationTimestamp.String(),
	}
}
