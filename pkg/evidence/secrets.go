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

// helmRelease is the type of the Secrets in which Helm keeps what it installed, compressed: nothing else has that form,
// and the secrets in it are those of the values, which are known.
const helmRelease corev1.SecretType = "helm.sh/release.v1"

// secrets makes all Secrets' values known to the redactor and writes what else there is to say of them. It returns
// whether it could.
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
		var told []map[string]any
		for _, s := range list.Items {
			if s.Type != helmRelease {
				for key, value := range s.Data {
					c.Redactor.Add(redact.FromSecret(key, string(value))...)
				}
			}
			told = append(told, describeSecret(s))
		}
		f.objects(cluster.Name+"/secrets.yaml", "names, types and keys of Secrets; no values", told)
		return nil
	})
}

// describeSecret has neither values nor annotations, of which one may repeat them.
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
