package owned_test

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

func TestMarkersAndTagsAreReadAsTheyAreWritten(t *testing.T) {
	if got, ours := owned.ClusterOfMarker(owned.Marker("demo")); got != "demo" || !ours {
		t.Errorf("the marker of demo is read as of %q (%v)", got, ours)
	}
	if _, ours := owned.ClusterOfMarker("/etc/other/demo"); ours {
		t.Error("any mount passes for a marker")
	}
	if got, ours := owned.CloudNameOfTag(owned.Tag(owned.CloudName("ns", "demo"))); got != "ns-demo" || !ours {
		t.Errorf("the tag of ns/demo is read as of %q (%v)", got, ours)
	}
	if _, ours := owned.CloudNameOfTag("cluster=ns-demo"); ours {
		t.Error("any tag passes for ours")
	}
}

func TestBackupsAreKnownByTheirName(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	if got := owned.Backup("demo", at); got != "demo-20260102T020405Z" || !owned.IsBackup("demo", got) {
		t.Errorf("the backup of demo is %q, and is one: %v", got, owned.IsBackup("demo", got))
	}
	if made, is := owned.BackupTime("demo", owned.Backup("demo", at)+owned.EncryptedSuffix); !is || !made.Equal(at) {
		t.Errorf("an encrypted backup is one: %v, of %s", is, made)
	}
	for _, other := range []string{"demo", "demo-two-20260102T020405Z", "kubeconfig.20260102T020405Z",
		"demo-20260102T020405Z.old", "demo-20260102T020405Z.unverified", ".incomplete-1", "demo-20260102T020405.5Z",
		"demo-20260102T020405Z.tar.age.tar.age"} {
		if owned.IsBackup("demo", other) {
			t.Errorf("%s passes for a backup of demo", other)
		}
	}
}

// What the content writes out must be what the code looks for: a node without the marker would be taken for a
// stranger's.
func TestTheContentHasTheSameNames(t *testing.T) {
	known := []string{
		owned.ClusterLabel, owned.ComponentLabel, owned.PoolLabel, owned.BackupLabel, owned.Marker("${CLUSTER_NAME}"), owned.Tag("${OPENSTACK_CLUSTER}"),
		// Hashes that have a Deployment roll out when credentials or proxies change; no code reads them.
		"cluster-init.io/credentials", "cluster-init.io/proxies",
		"/etc/cluster-init.io/trusted-cas.pem", "/etc/cluster-init.io/keepalived", // files of machines
		"cluster-init.io/v1alpha1", // of machineadm.cluster-init.io, the API of pkg/machineadm
	}
	ours := regexp.MustCompile(`[a-z/]*cluster-init(\.io/|:cluster=)[^\s"']*`)
	found := map[string]bool{}
	for _, root := range []string{"kustomize-components", "charts"} {
		err := fs.WalkDir(clusterinit.Content(), root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(clusterinit.Content(), path)
			if err != nil {
				return err
			}
			for _, name := range ours.FindAllString(string(content), -1) {
				name = strings.TrimSuffix(name, ":")
				if found[name] = true; !slices.Contains(known, name) {
					t.Errorf("%s has %q, which package owned does not know", path, name)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range known {
		if !found[name] {
			t.Errorf("the content has no %q", name)
		}
	}
}
