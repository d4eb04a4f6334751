package pivot

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestDifferingParts(t *testing.T) {
	const cluster = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: mgmt, namespace: management, labels: {a: b}, annotations: {note: one}, ownerReferences: [{apiVersion: g/v1, kind: Class, name: c, uid: "1"}]}
spec: {paused: true, replicas: 3, list: [1]}
`
	for name, tc := range map[string]struct {
		from, to string // in the other one
		want     string
	}{
		"nothing":                       {"", "", ""},
		"whether it is paused":          {"paused: true, ", "", ""},
		"the status":                    {"\nspec", "\nstatus: {phase: Provisioned}\nspec", ""},
		"an owner's UID":                {`uid: "1"`, `uid: "2"`, ""},
		"the version of an owner's API": {"g/v1", "g/v2", ""},
		"the mark of a move":            {"note: one", "note: one, clusterctl.cluster.x-k8s.io/delete-for-move: ''", ""},
		"a field of the spec":           {"replicas: 3", "replicas: 4", "spec"},
		"a number that looks like text": {"replicas: 3", `replicas: "3"`, "spec"},
		"something new beside the spec": {"\nspec", "\ndata: {a: Yg==}\nspec", "data"},
		"something empty beside it":     {"\nspec", "\ndata: {}\nspec", ""},
		"a label":                       {"a: b", "a: c", "label"},
		"an annotation":                 {"note: one", "note: two", "annotation"},
		"an owner":                      {"name: c,", "name: d,", "owner"},
		"an owner of another group":     {"g/v1", "h/v1", "owner"},
	} {
		t.Run(name, func(t *testing.T) {
			var sides [2]*unstructured.Unstructured
			for i, text := range []string{cluster, strings.Replace(cluster, tc.from, tc.to, 1)} {
				sides[i] = &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &sides[i].Object); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(differing(sides[0], sides[1]), ","); got != tc.want {
				t.Errorf("differs in %q, want %q", got, tc.want)
			}
		})
	}
}
