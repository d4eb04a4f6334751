package cli

import (
	"os"
	"path/filepath"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

const filesAtBoot = `
cluster:
  machineadm: {enabled: true}
  kubernetes_source: boot
  kubernetes_files:
    v1.36.4:
      - {path: /usr/local/bin/kubeadm, sources: {amd64: {url: "https://example.org/kubeadm",
         sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}}}
`

// Machines of Docker find the files in the registry next to the clusters, unless the values name another place. Others
// do not reach it.
func TestFilesBesideTheClusters(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte(filesAtBoot), 0o600); err != nil {
		t.Fatal(err)
	}
	const own, other = "http://kubeadm-capd-registry:5000/v2/cluster-init/kubernetes/blobs", "https://m/blobs"
	for name, test := range map[string]struct {
		environment, set, mirror string
		served                   int
	}{
		"Docker":               {"kubeadm-capd", "", own, 1},
		"a mirror of the user": {"kubeadm-capd", "cluster.kubernetes_mirror=" + other, other, 0},
		"in the image":         {"kubeadm-capd", "cluster.kubernetes_source=image", "", 0},
		"OpenStack":            {"kubeadm-capo", "", "", 0},
		"install":              {"kubeadm-capd", "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			options := environment.Options{Name: test.environment, Content: clusterinit.Content(),
				ValuesFiles: []string{values}, NamesOnly: test.environment != "kubeadm-capd",
				Installed: name == "install"}
			if test.set != "" {
				options.Sets = []string{test.set}
			}
			env, err := environment.Load(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			if env, err = withProgramsBeside(env); err != nil {
				t.Fatal(err)
			}
			if mirror := env.Spec().Cluster.KubernetesMirror; mirror != test.mirror {
				t.Errorf("the files are at %q, want %q", mirror, test.mirror)
			}
			programs, err := programsFor(env)
			if err != nil || len(programs.Files) != test.served {
				t.Fatalf("the registry serves %d files, want %d: %v", len(programs.Files), test.served, err)
			}
			if test.served > 0 && programs.Files[0].Sources["amd64"].URL != "https://example.org/kubeadm" {
				t.Errorf("up fetches %+v", programs.Files[0])
			}
		})
	}
}
