package record

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// Parts are the digests of what must arrive of an object. They do not reveal its values.
type Parts struct {
	Fields      map[string]string `json:"fields,omitempty"` // spec, data and so on
	Labels      []string          `json:"labels,omitempty"`
	Annotations []string          `json:"annotations,omitempty"`
	// Controllers are annotations that controllers of Cluster API write, and may rewrite as soon as they run.
	Controllers []string `json:"controllers,omitempty"`
	Owners      []string `json:"owners,omitempty"`
}

// Digester makes digests with a random key. Without the key, guesses of a Secret's values cannot be tested.
type Digester []byte

// NewDigester returns a Digester with a key of its own.
func NewDigester() Digester {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return key
}

func (d Digester) digest(texts ...string) string {
	mac := hmac.New(sha256.New, d)
	for _, text := range texts {
		mac.Write([]byte(text))
		mac.Write([]byte{0}) // a separator, because no text of an object has this byte
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// Parts returns the digests of an object without what a move itself changes: whether it is paused, the marks of the
// move, the owners' UIDs, the status.
func (d Digester) Parts(u *unstructured.Unstructured) Parts {
	users, controllers := keptAnnotations(u)
	p := Parts{Fields: map[string]string{}, Labels: d.pairs("label", u.GetLabels()),
		Annotations: d.pairs("annotation", users), Controllers: d.pairs("annotation", controllers)}
	for key := range u.Object {
		if slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, key) {
			continue
		}
		if text := content(u, key); text != "" {
			p.Fields[key] = d.digest("field", key, text)
		}
	}
	for _, owner := range owners(u) {
		p.Owners = append(p.Owners, d.digest("owner", owner))
	}
	slices.Sort(p.Owners)
	return p
}

func (d Digester) pairs(what string, values map[string]string) []string {
	var all []string
	for key, value := range values {
		all = append(all, d.digest(what, key, value))
	}
	slices.Sort(all)
	return all
}

// Missing returns the parts of p that got lacks. The target's controllers and webhooks may add labels, annotations and
// owners; all fields must be the same. running reports whether the target's controllers may have acted already.
func (p Parts) Missing(got Parts, running bool) []string {
	keys := maps.Clone(p.Fields)
	if keys == nil {
		keys = map[string]string{}
	}
	maps.Copy(keys, got.Fields)
	var names []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if p.Fields[key] != got.Fields[key] {
			names = append(names, key)
		}
	}
	for _, part := range []struct {
		name      string
		want, got []string
	}{{"label", p.Labels, got.Labels}, {"annotation", p.Annotations, got.Annotations},
		{"annotation of a controller", p.Controllers, got.Controllers}, {"owner", p.Owners, got.Owners}} {
		if running && part.name == "annotation of a controller" {
			continue
		}
		if slices.ContainsFunc(part.want, func(digest string) bool { return !slices.Contains(part.got, digest) }) {
			names = append(names, part.name)
		}
	}
	return names
}

// WithoutOwners returns the parts without the owners.
func (p Parts) WithoutOwners() Parts {
	p.Owners = nil
	return p
}

// content returns a field as JSON. A number is the same whether it was read from a file or an API server, and an empty
// value equals none.
func content(u *unstructured.Unstructured, key string) string {
	value := u.Object[key]
	if fields, isMap := value.(map[string]any); isMap && key == "spec" {
		fields = maps.Clone(fields)
		if u.GetKind() == clusterv1.ClusterKind {
			delete(fields, "paused")
		}
		if scaledByOthers(u) {
			delete(fields, "replicas")
		}
		value = fields
	}
	text, err := json.Marshal(value)
	// what an API server or a file holds is always JSON
	if err != nil || slices.Contains([]string{"null", "{}", "[]"}, string(text)) {
		return ""
	}
	return string(text)
}

// scaledByOthers reports whether the Cluster Autoscaler, or another manager of a MachinePool, may set the replicas at
// any time.
func scaledByOthers(u *unstructured.Unstructured) bool {
	annotations := u.GetAnnotations()
	for _, key := range []string{clusterv1.AutoscalerMinSizeAnnotation, clusterv1.ReplicasManagedByAnnotation} {
		if _, scaled := annotations[key]; scaled {
			return true
		}
	}
	return false
}

// keptAnnotations returns the annotations that a move keeps: those of users and tools, and those that controllers of
// Cluster API write.
func keptAnnotations(u *unstructured.Unstructured) (users, controllers map[string]string) {
	users, controllers = maps.Clone(u.GetAnnotations()), map[string]string{}
	for _, passing := range []string{clusterv1.PausedAnnotation, clusterctlv1.DeleteForMoveAnnotation,
		clusterctlv1.BlockMoveAnnotation,
		corev1.LastAppliedConfigAnnotation, owned.VerifiedAnnotation, owned.MachinesAnnotation, owned.PivotAnnotation} {
		delete(users, passing)
	}
	for key, value := range users {
		domain, _, _ := strings.Cut(key, "/")
		if domain == clusterv1.GroupVersion.Group || strings.HasSuffix(domain, "."+clusterv1.GroupVersion.Group) ||
			strings.HasSuffix(domain, ".clusters.x-k8s.io") {
			controllers[key] = value
			delete(users, key)
		}
	}
	return users, controllers
}

func owners(u *unstructured.Unstructured) []string {
	var names []string
	for _, o := range u.GetOwnerReferences() {
		group, _, _ := strings.Cut(o.APIVersion, "/")
		names = append(names, cmp.Or(group, "-")+" "+o.Kind+" "+o.Name)
	}
	return names
}
