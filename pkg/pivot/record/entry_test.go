package record

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/capi"
	"github.com/cluster-init/cluster-init/pkg/clusters"
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
		"the mark of a move": {"note: one", "note: one, clusterctl.cluster.x-k8s.io/delete-for-move: ''",
			""},
		"a field of the spec":              {"replicas: 3", "replicas: 4", "spec"},
		"a number that looks like text":    {"replicas: 3", `replicas: "3"`, "spec"},
		"something new beside the spec":    {"\nspec", "\ndata: {a: Yg==}\nspec", "data"},
		"something empty beside it":        {"\nspec", "\ndata: {}\nspec", ""},
		"a label":                          {"a: b", "a: c", "label"},
		"an annotation":                    {"note: one", "note: two", "annotation"},
		"a label that is gone":             {"labels: {a: b}, ", "", "label"},
		"a label more":                     {"a: b", "a: b, c: d", ""},
		"an annotation that blocks a move": {"note: one", "note: one, clusterctl.cluster.x-k8s.io/block-move: x", ""},
		"an annotation more":               {"note: one", "note: one, more: text", ""},
		"a moved pair":                     {"a: b", "b: a", "label"},
		"what was verified":                {"note: one", "note: one, cluster-init.io/pivot-verified: x", ""},
		"what was paused by a move":        {"note: one", "note: one, cluster-init.io/pivot: x", ""},
		"an owner that is gone": {`, ownerReferences: [{apiVersion: g/v1, kind: Class, name: c, uid: "1"}]`,
			"", "owner"},
		"an owner more": {`uid: "1"}`,
			`uid: "1"}, {apiVersion: g/v1, kind: Class, name: d, uid: "3"}`, ""},
		"replicas of a spec":        {"replicas: 3", "replicas: 9", "spec"},
		"an owner":                  {"name: c,", "name: d,", "owner"},
		"an owner of another group": {"g/v1", "h/v1", "owner"},
	} {
		t.Run(name, func(t *testing.T) {
			var sides [2]*unstructured.Unstructured
			for i, text := range []string{cluster, strings.Replace(cluster, tc.from, tc.to, 1)} {
				sides[i] = &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(text), &sides[i].Object); err != nil {
					t.Fatal(err)
				}
			}
			d := NewDigester()
			lacking := d.Parts(sides[0]).Missing(d.Parts(sides[1]), false)
			if got := strings.Join(lacking, ","); got != tc.want {
				t.Errorf("differs in %q, want %q", got, tc.want)
			}
		})
	}
}

// The autoscaler may change the replicas of what it scales, and nothing else.
func TestReplicasOfWhatIsScaledByOthers(t *testing.T) {
	scaled := func(annotation string, replicas, version int64) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": "MachineDeployment",
			"spec": map[string]any{"replicas": replicas, "version": version}}}
		u.SetAnnotations(map[string]string{annotation: "1"})
		return u
	}
	d := NewDigester()
	for annotation, passes := range map[string]bool{"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size": true,
		"cluster.x-k8s.io/replicas-managed-by": true, "note": false} {
		want := d.Parts(scaled(annotation, 3, 1))
		if got := want.Missing(d.Parts(scaled(annotation, 5, 1)), true); (len(got) == 0) != passes {
			t.Errorf("%s, other replicas: %v", annotation, got)
		}
		if got := want.Missing(d.Parts(scaled(annotation, 3, 2)), true); len(got) != 1 {
			t.Errorf("%s, another version: %v", annotation, got)
		}
	}
}

// A digest reveals neither what a Secret holds, nor whether two Secrets hold the same.
func TestDigestsAreNotOfOthers(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"password": "aHVudGVyMg=="}}}
	one, other := NewDigester().Parts(u), NewDigester().Parts(u)
	if one.Fields["data"] == "" || one.Fields["data"] == other.Fields["data"] {
		t.Errorf("two moves have the digests %v and %v", one.Fields, other.Fields)
	}
}

// Both sides keep what hangs below an object of the whole cluster, and a move never overwrites it.
func TestWhatBothSidesKeepIsNotCompared(t *testing.T) {
	secret := func(data string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret",
			"data": map[string]any{"password": data}}}
	}
	d := NewDigester()
	for shared, want := range map[bool]int{true: 0, false: 1} {
		r := d.Entry(capi.Object{Shared: shared}, secret("one"))
		if got := r.Differences(d, secret("two"), true); len(got) != want {
			t.Errorf("shared %t: %v", shared, got)
		}
	}
}

// A resumed source may change: the earlier record is then outdated.
func TestARecordIsStaleOnceTheSourceWasResumed(t *testing.T) {
	scope := clusters.Scope{Namespace: "ns", Cluster: "mgmt"}
	for name, tc := range map[string]struct {
		recorded, now      int64
		deleting, is, gone bool
	}{
		"paused":                       {recorded: 3, now: 4},
		"not paused yet":               {recorded: 3, now: 3},
		"being deleted":                {recorded: 3, now: 5, deleting: true},
		"resumed":                      {recorded: 3, now: 5, is: true},
		"resumed and paused again":     {recorded: 3, now: 6, is: true},
		"resumed, paused and deleting": {recorded: 3, now: 7, deleting: true, is: true},
		"gone":                         {recorded: 3, gone: true},
		"nobody knows":                 {now: 9},
	} {
		source := clusters.Holding{Clusters: []capi.Cluster{{Object: capi.Object{Name: "mgmt"}, Generation: tc.now,
			Deleting: tc.deleting}}}
		if tc.gone {
			source = clusters.Holding{}
		}
		if got := (&Record{Generation: tc.recorded}).SourceResumedSince(source, scope); got != tc.is {
			t.Errorf("%s: stale %t", name, got)
		}
	}
}

// What controllers of Cluster API write into annotations is the same as long as they stand still, and theirs once they
// run.
func TestAnnotationsOfControllers(t *testing.T) {
	with := func(key, value string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"kind": "Machine"}}
		u.SetAnnotations(map[string]string{key: value})
		return u
	}
	d := NewDigester()
	for key, ofController := range map[string]bool{"machine.cluster.x-k8s.io/certificates-expiry": true,
		"cluster.x-k8s.io/x": true, "machinedeployment.clusters.x-k8s.io/revision": true,
		"note": false, "example.org/cluster.x-k8s.io": false, "mycluster.x-k8s.io/x": false} {
		for _, running := range []bool{true, false} {
			got := d.Parts(with(key, "one")).Missing(d.Parts(with(key, "two")), running)
			if tolerated := len(got) == 0; tolerated != (ofController && running) {
				t.Errorf("%s, running %t: %v", key, running, got)
			}
		}
	}
}
