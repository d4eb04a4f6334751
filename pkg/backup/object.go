package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// maxName is the maximum length of a file name without .yaml, in bytes: file systems accept 255 in all.
const maxName = 200

// entry is one file of a backup.
type entry struct {
	name string // path in the backup
	text []byte
}

// entries returns the files of a section.
func entries(s Section, objects []*unstructured.Unstructured) ([]entry, error) {
	var all []entry
	for _, u := range objects {
		name := fileName(u)
		if !plainName(name) {
			return nil, fmt.Errorf("%s %q cannot be the name of a file", u.GetKind(), u.GetName())
		}
		if s == Objects {
			u = u.DeepCopy()
			pause(u)
		}
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s as YAML: %w", capi.ObjectOf(u), err)
		}
		all = append(all, entry{string(s) + "/" + name, text})
	}
	return all, nil
}

// fileName includes the group: two kinds of one name in different groups are different objects.
func fileName(u *unstructured.Unstructured) string {
	name := strings.Join([]string{u.GroupVersionKind().GroupKind().String(), u.GetNamespace(), u.GetName()}, "_")
	if len(name) > maxName {
		digest := sha256.Sum256([]byte(name))
		name = name[:maxName-65] + "-" + hex.EncodeToString(digest[:])
	}
	return name + ".yaml"
}

// pause writes Clusters and ClusterClasses as paused, as clusterctl's own backup does: nothing reconciles until
// everything is restored.
func pause(u *unstructured.Unstructured) {
	switch u.GroupVersionKind().GroupKind() {
	case clusterv1.GroupVersion.WithKind("Cluster").GroupKind():
		_ = unstructured.SetNestedField(u.Object, true, "spec", "paused") // fails only when spec is not an object
	case clusterv1.GroupVersion.WithKind("ClusterClass").GroupKind():
		annotations := u.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[clusterv1.PausedAnnotation] = ""
		u.SetAnnotations(annotations)
	}
}

// maxObject is the maximum size of a file in a backup, in bytes: an API server accepts at most 3 MiB, as JSON.
const maxObject = 16 << 20

// object reads a file of a backup. It hides the parser's error, which may contain a secret.
func object(e entry) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	if err := unpack.YAML(e.text); err != nil {
		return nil, fmt.Errorf("%s contains no object: %w", e.name, err)
	}
	text, err := yaml.YAMLToJSON(e.text)
	if err != nil || u.UnmarshalJSON(text) != nil || u.GetName() == "" {
		return nil, fmt.Errorf("%s contains no object", e.name)
	}
	if err := checkNames(u); err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, err)
	}
	return u, nil
}
