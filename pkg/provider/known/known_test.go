package known_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
)

// The subnet that is made for servers must not share addresses with pods; where no servers are made, or the network is
// there already, its default says nothing.
func TestRangesOfTheProvider(t *testing.T) {
	const pods, nodes = "cluster.pod_cidr=10.6.0.0/16", "cluster.openstack.node_cidr=10.6.0.0/24"
	cloud := []string{"cluster.openstack.image=i", "cluster.openstack.control_plane_flavor=f",
		"cluster.openstack.worker_flavor=f", "cluster.openstack.external_network=public"}
	cases := map[string]struct {
		name    string
		sets    []string
		refused bool
	}{
		"of servers":              {"kubeadm-capo", append(cloud, pods, nodes), true},
		"apart":                   {"kubeadm-capo", append(cloud, nodes), false},
		"a network that is there": {"kubeadm-capo", append(cloud, pods, nodes, "cluster.openstack.network=net"), false},
		"of containers":           {"kubeadm-capd", []string{pods, nodes}, false},
		"of instances of EC2":     {"kubeadm-capa", []string{pods, nodes}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := environment.Load(t.Context(), environment.Options{Name: tc.name, Content: clusterinit.Content(),
				Sets: tc.sets, Ranges: known.Ranges, Derive: known.NoCredentials})
			overlaps := err != nil && strings.Contains(err.Error(), "overlaps cluster.openstack.node_cidr") ||
				err != nil && strings.Contains(err.Error(), "node_cidr 10.6.0.0/24 overlaps")
			if overlaps != tc.refused {
				t.Errorf("refused: %v, want %v: %v", overlaps, tc.refused, err)
			}
		})
	}
}

// The chart that is asked may know a provider that this binary does not: its machines are not Docker's.
func TestAnUnknownProviderIsNotDocker(t *testing.T) {
	const schema = "charts/telco-cloud-init/values.schema.json"
	text, err := fs.ReadFile(clusterinit.Content(), schema)
	if err != nil {
		t.Fatal(err)
	}
	content := overlaid{clusterinit.Content(),
		map[string][]byte{schema: bytes.Replace(text, []byte(`"capd",`), []byte(`"capd", "capx",`), 1)}}
	for name, want := range map[string]string{"capd": "Docker", "capa": "AWS", "capo": "OpenStack", "capx": ""} {
		env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: content,
			NamesOnly: true, Sets: []string{"cluster.infra_provider=" + name}})
		if err != nil {
			t.Fatal(err)
		}
		made, err := known.Of(env, nil)
		switch {
		case want == "" && (made != nil || fault.CodeOf(err) != fault.ValuesInvalid ||
			!strings.Contains(err.Error(), `"capx"`)):
			t.Errorf("%s: %v, %v", name, made, err)
		case want != "" && (err != nil || made.Place() != want):
			t.Errorf("%s: %v, %v", name, made, err)
		}
	}
}

// overlaid is a file system with some files in place of its own.
type overlaid struct {
	fs.FS
	files map[string][]byte
}

func (o overlaid) Open(name string) (fs.File, error) {
	if content, own := o.files[name]; own {
		return fstest.MapFS{name: {Data: content}}.Open(name)
	}
	return o.FS.Open(name)
}
