package docker

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// engine plays a Docker engine that lets two networks have one name. Its state is files: networks/ID holds the name,
// containers/NAME the ID of the network that it is in, empty for one that was never started. onCreate runs when a
// network is created, before it exists.
type engine struct {
	folder string
	*Client
	calls func() []string
}

func newEngine(t *testing.T, onCreate string) engine {
	t.Helper()
	e := engine{folder: t.TempDir()}
	for _, folder := range []string{"networks", "containers"} {
		if err := os.Mkdir(filepath.Join(e.folder, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e.Client, e.calls = fakeDocker(t, `cd `+e.folder+`
for last; do :; done
case "$1 $2" in
"network ls") ls -r networks ;;
"network inspect")
	[ "$3" = bridge ] && exit 0
	if [ "$3" = kind ]; then echo "Error response from daemon: network kind is ambiguous (2 matches found on name)" >&2; exit 1; fi
	if [ ! -e networks/$3 ]; then echo "Error: No such network: $3" >&2; exit 1; fi
	echo "[{\"Id\":\"$3\",\"Name\":\"$(cat networks/$3)\"}]" ;;
"network create")
	`+onCreate+`
	echo kind >networks/0own ;;
"network rm")
	if [ ! -e networks/$3 ]; then echo "Error: No such network: $3" >&2; exit 1; fi
	if [ -e joins ]; then mv joins containers/late; echo "error while removing network: network kind id $3 has active endpoints" >&2; exit 1; fi
	rm networks/$3 ;;
"container ls")
	for c in $(ls containers); do
		case "$last" in
		network=kind) echo $c ;;
		network=$(cat containers/$c)) echo $c ;;
		esac
	done ;;
"container inspect")
	echo "[{\"Id\":\"$3\",\"Name\":\"/$3\",\"NetworkSettings\":{\"Networks\":{\"kind\":{\"NetworkID\":\"$(cat containers/$3)\"}}}}]" ;;
esac`)
	return e
}

func (e engine) write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(e.folder, path), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (e engine) networks(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(e.folder, "networks"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	return ids
}

// Two runs that begin at the same moment make two networks of one name: all commands that name it fail from then on,
// until one is gone.
func TestSeveralNetworksOfOneName(t *testing.T) {
	for name, tc := range map[string]struct {
		networks   map[string]string // name by ID
		containers map[string]string // ID of the network by name
		onCreate   string
		joins      string   // the network that a container joins while another one is removed
		want       []string // IDs that are left
		fails      []string
	}{
		"none":                             {want: []string{"0own"}},
		"one":                              {networks: map[string]string{"b": "kind"}, want: []string{"b"}},
		"another name that holds this one": {networks: map[string]string{"b": "mykind"}, want: []string{"0own", "b"}},
		"no container is in either": {networks: map[string]string{"b": "kind", "a": "kind"},
			want: []string{"a"}},
		"a container is in the second": {networks: map[string]string{"a": "kind", "b": "kind", "c": "kind"},
			containers: map[string]string{"x": "b"}, want: []string{"b"}},
		"a container is in each": {networks: map[string]string{"a": "kind", "b": "kind"},
			containers: map[string]string{"x": "b", "y": "a"}, want: []string{"a", "b"},
			fails: []string{"a (containers y)", "b (containers x)"}},
		"one that never ran is there, too": {networks: map[string]string{"a": "kind", "b": "kind"},
			containers: map[string]string{"x": "b", "new": ""}, want: []string{"b"}},
		"another run makes one meanwhile": {onCreate: "echo kind >networks/1other", want: []string{"0own"}},
		"another run uses what it made": {onCreate: "echo kind >networks/1other; printf 1other >containers/x",
			want: []string{"1other"}},
		"another run has taken the subnet": {onCreate: "echo kind >networks/1other; echo Pool overlaps with other one " +
			"on this address space >&2; exit 1", want: []string{"1other"}},
		"it comes into use while it goes": {networks: map[string]string{"a": "kind", "b": "kind"}, joins: "b",
			want: []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, tc.onCreate)
			for id, network := range tc.networks {
				e.write(t, "networks/"+id, network)
			}
			for container, id := range tc.containers {
				e.write(t, "containers/"+container, id)
			}
			if tc.joins != "" {
				e.write(t, "joins", tc.joins)
			}
			err := e.CreateKindNetwork(t.Context(), "kind", nil)
			if (err != nil) != (len(tc.fails) > 0) || err != nil && (fault.CodeOf(err) != fault.DockerFailed ||
				strings.Contains(err.Error(), "ambiguous") ||
				!strings.Contains(fault.HintOf(err), "docker network rm")) {
				t.Errorf("%v, hint %q", err, fault.HintOf(err))
			}
			for _, says := range tc.fails {
				if !strings.Contains(fmt.Sprint(err), says) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
			if left := e.networks(t); !slices.Equal(left, tc.want) {
				t.Errorf("left are %q, want %q; ran %q", left, tc.want, e.calls())
			}
		})
	}
}

func TestContainersInANetwork(t *testing.T) {
	e := newEngine(t, "")
	for container, id := range map[string]string{"x": "a", "y": "b", "new": ""} {
		e.write(t, "containers/"+container, id)
	}
	names, err := e.ContainersIn(t.Context(), Network{ID: "a", Name: "kind"})
	if slices.Sort(names); err != nil || !slices.Equal(names, []string{"new", "x"}) {
		t.Errorf("%q, %v", names, err)
	}
}
