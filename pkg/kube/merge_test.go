package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

const others = `
apiVersion: v1
kind: Config
current-context: theirs
clusters: [{name: theirs, cluster: {server: "https://theirs:6443"}}]
contexts: [{name: theirs, context: {cluster: theirs, user: them}}, {name: prod, context: {cluster: prod-eks, user: eks}},
{name: elsewhere, context: {cluster: theirs, user: shop-admin}}]
users: [{name: them, user: {token: t0ken}}, {name: eks, user: {token: t}}, {name: shop-admin, user: {token: t}}]
`

func TestMerge(t *testing.T) {
	mine, moved, foreign := kubeconfigOf(t, "mine", "https://a:6443"), kubeconfigOf(t, "mine", "https://b:6443"),
		kubeconfigOf(t, "other", "https://c:6443")
	file := inFolder(t, others)

	for _, name := range []string{"prod", "shop"} {
		if _, err := Merge(mine, name); fault.CodeOf(err) != fault.ClusterForeign {
			t.Errorf("entries of others for %s: %v", name, err)
		}
	}
	written, err := Merge(mine, "demo")
	if err != nil || written != file {
		t.Fatalf("%s: %v", written, err)
	}
	has := func(server string) {
		t.Helper()
		config, err := clientcmd.LoadFromFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if config.CurrentContext != "demo" || config.Clusters[config.Contexts["demo"].Cluster].Server != server ||
			config.AuthInfos[config.Contexts["demo"].AuthInfo] == nil {
			t.Errorf("the current context is %s, of %+v", config.CurrentContext, config.Clusters)
		}
		if config.AuthInfos["them"].Token != "t0ken" || config.Clusters["theirs"].Server != "https://theirs:6443" {
			t.Error("what others have in the file is not there any more")
		}
	}
	has("https://a:6443")
	if _, err := Merge(moved, "demo"); err != nil {
		t.Error(err)
	}
	has("https://b:6443")
	if _, err := Merge(foreign, "demo"); fault.CodeOf(err) != fault.ClusterForeign ||
		!strings.Contains(err.Error(), file) {
		t.Errorf("another cluster of that name: %v", err)
	}
	has("https://b:6443")
}

// An entry whose authority is a file is known by it; one without an authority is not called another cluster's.
func TestMergeComparesAsKubectlWouldConnect(t *testing.T) {
	for name, tc := range map[string]struct{ authority, entry, says string }{
		"the same, as a file":    {"mine", "certificate-authority: pki/ca.crt, ", ""},
		"another one, as a file": {"theirs", "certificate-authority: pki/ca.crt, ", "it is another one"},
		"a file that is gone":    {"mine", "certificate-authority: pki/gone.crt, ", "it cannot be compared"},
		"none":                   {"mine", "", "it cannot be compared"},
	} {
		file := inFolder(t, strings.ReplaceAll(strings.Replace(others, "server:", tc.entry+"server:", 1), "theirs",
			"demo"))
		if err := os.Mkdir(filepath.Join(filepath.Dir(file), "pki"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "pki/ca.crt"), kubeconfig.Authority(t, tc.authority),
			0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Merge(kubeconfigOf(t, "mine", "https://a:6443"), "demo")
		if tc.says == "" && err != nil || tc.says != "" && (fault.CodeOf(err) != fault.ClusterForeign ||
			!strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
}

func TestMergeIntoNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "config")
	t.Setenv("KUBECONFIG", file)
	if _, err := Merge(kubeconfigOf(t, "mine", "https://a:6443"), "demo"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v, want mode 0600", info, err)
	}
}

func TestMergeWaitsForNobody(t *testing.T) {
	file := inFolder(t, others)
	if err := os.WriteFile(file+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(kubeconfigOf(t, "mine", "https://a:6443"), "demo"); fault.CodeOf(err) != fault.Busy ||
		!strings.Contains(fault.HintOf(err), file+".lock") {
		t.Errorf("%v (%s)", err, fault.CodeOf(err))
	}
	if content, err := os.ReadFile(file); err != nil || string(content) != others {
		t.Errorf("the file was changed: %v", err)
	}
}

func TestMergeRefusesWhatItCannotRead(t *testing.T) {
	inFolder(t, "clusters: [")
	if _, err := Merge(kubeconfigOf(t, "mine", "https://a:6443"), "demo"); fault.CodeOf(err) != fault.Usage {
		t.Errorf("a broken file: %v", err)
	}
	inFolder(t, others)
	for _, broken := range []string{"", "{", "current-context: nope"} {
		if _, err := Merge([]byte(broken), "demo"); err == nil {
			t.Errorf("%q is no kubeconfig", broken)
		}
	}
}

// inFolder has kubectl use a file with content.
func inFolder(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	return file
}
