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
		"a label that is gone":          {"labels: {a: b}, ", "", "label"},
		"a label more":                  {"a: b", "a: b, c: d", ""},
		"an annotation more":            {"note: one", "note: one, more: text", ""},
		"a moved pair":                  {"a: b", "b: a", "label"},
		"what was verified":             {"note: one", "note: one, cluster-init.io/pivot-verified: x", ""},
		"an owner that is gone":         {`, ownerReferences: [{apiVersion: g/v1, kind: Class, name: c, uid: "1"}]`, "", "owner"},
		"an owner more":                 {`uid: "1"}`, `uid: "1"}, {apiVersion: g/v1, kind: Class, name: d, uid: "3"}`, ""},
		"replicas that nobody scales":   {"replicas: 3", "replicas: 9", "spec"},
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
			d := newDigester()
			lacking := d.parts(sides[0]).lacking(d.parts(sides[1]))
			if got := strings.Join(lacking, ","); got != tc.want {
				t.Errorf("differs in %q, want %q", got, tc.want)
			}
		})
	}
}

// Nobody can tell from a digest what a Secret holds, nor whether two of them hold the same.
func TestDigestsAreNotOfOthers(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"password": "aHVudGVyMg=="}}}
	one, other := newDigester().parts(u), newDigester().parts(u)
	if one.Fields["data"] == "" || one.Fields["data"] == other.Fields["data"] {
		t.Errorf("two moves have the digests %v and %v", one.Fields, other.Fields)
	}
}
