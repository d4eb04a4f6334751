package cli

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/manifests"
)

// A repository's chart and components count in place of the binary's; what it lacks does not come from the binary, but
// environments do.
func TestContentOfARepository(t *testing.T) {
	folder := repositoryFolder(t)
	values := filepath.Join(folder, "charts/telco-cloud-init/values.yaml")
	text, err := os.ReadFile(values)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte("interval: 10m"), []byte("interval: 17m"), 1)
	if err := os.WriteFile(values, changed, 0o600); err != nil || bytes.Equal(text, changed) {
		t.Fatal("the chart has no interval to change", err)
	}
	if err := os.RemoveAll(filepath.Join(folder, "kustomize-components/orc")); err != nil {
		t.Fatal(err)
	}

	o := environmentOptions{}
	if o.fsys, err = (&contentOptions{folder: folder}).of(); err != nil {
		t.Fatal(err)
	}
	env, err := o.load(t.Context(), "kubeadm-capd", nil) // an environment of the binary
	if err != nil {
		t.Fatal(err)
	}
	_, options, err := publishOptions(env, o.fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	options.Fetch = nil
	tree, err := options.Tree(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for path := range tree {
		if strings.HasPrefix(path, "kustomize-components/orc/") {
			t.Errorf("%s is not in the repository", path)
		}
	}
	rendered, err := manifests.Render(t.Context(), env, environment.Management, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := rendered.Print(&out); err != nil || !strings.Contains(out.String(), "interval: 17m") {
		t.Error("the chart is not that of the repository", err)
	}
}

func TestContentThatIsNoneIsRefused(t *testing.T) {
	if _, err := (&contentOptions{folder: t.TempDir()}).of(); fault.CodeOf(err) != fault.Usage ||
		!strings.Contains(fault.HintOf(err), "root of a repository") {
		t.Errorf("%v (hint: %s)", err, fault.HintOf(err))
	}
}

// repositoryFolder is a copy of the binary's chart, components and environments, as a user's repository has them.
func repositoryFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, part := range []string{"charts", "kustomize-components", "environment-values"} {
		root, err := fs.Sub(clusterinit.Content(), part)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(folder, part), root); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// A machine template that changed in a repository keeps its name until definitions.json says so: that is refused before
// the cluster reads it.
func TestACheckoutWhoseChartKnowsOtherDefinitionsIsRefused(t *testing.T) {
	folder := repositoryFolder(t)
	environment := filepath.Join(folder, "environment-values", "kubeadm-capd")
	if err := checkCheckout(environment); err != nil {
		t.Fatal(err)
	}
	workers := filepath.Join(folder, "kustomize-components/cluster/kubeadm-capd/workers.yaml")
	text, err := os.ReadFile(workers)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(text, []byte("containerPath: /var/run/docker.sock"),
		[]byte("containerPath: /run/docker.sock"), 1)
	if bytes.Equal(text, changed) {
		changed = bytes.Replace(text, []byte("imageGCHighThresholdPercent"), []byte("imageGCLowThresholdPercent"), 1)
	}
	if err := os.WriteFile(workers, changed, 0o600); err != nil || bytes.Equal(text, changed) {
		t.Fatal("nothing was changed", err)
	}
	for name, err := range map[string]error{"its environment": checkCheckout(environment),
		"--content": contentError(folder)} {
		if fault.CodeOf(err) != fault.EnvironmentInvalid ||
			!strings.Contains(err.Error(), "./kustomize-components/cluster/kubeadm-capd") ||
			!strings.Contains(fault.HintOf(err), "definitions.json with: {") {
			t.Errorf("%s: %v, hint %q", name, err, fault.HintOf(err))
		}
	}
	for name, other := range map[string]string{"of the binary": "kubeadm-capd", "elsewhere": t.TempDir()} {
		if err := checkCheckout(other); err != nil {
			t.Errorf("an environment %s: %v", name, err)
		}
	}
}

func contentError(folder string) error {
	_, err := (&contentOptions{folder: folder}).of()
	return err
}
