package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/cli"
)

// ofClouds are the variables of a shell that could name a cloud or change what is rendered.
var ofClouds = regexp.MustCompile(`^(OS_|OPENSTACK_|AWS_|GITLAB_|CI|CLUSTER_INIT_|KUBECONFIG$|(?i:[a-z]+_proxy$))`)

// cleanShell gives a test a home of its own, and these variables of clouds and no others.
func cleanShell(t *testing.T, variables map[string]string) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); ofClouds.MatchString(name) {
			t.Setenv(name, "") // has it set back
			_ = os.Unsetenv(name)
		}
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, home)
	}
	for name, value := range variables {
		t.Setenv(name, value)
	}
}

// said runs a command and returns its exit code and all that it says.
func said(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

// openrc is what Horizon's openrc.sh sets, and what kubeadm-capo needs besides. cluster-init calls that cloud
// "openstack".
func openrc() map[string]string {
	return map[string]string{
		"OS_AUTH_URL": "https://keystone.example.org:5000/v3", "OS_USERNAME": "capo", "OS_PASSWORD": "s3cretpw",
		"OS_PROJECT_NAME": "telco", "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default",
		"OS_REGION_NAME": "RegionOne", "OS_IDENTITY_API_VERSION": "3", "OS_INTERFACE": "public",
		"OPENSTACK_IMAGE_NAME": "ubuntu", "OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "m1.large",
		"OPENSTACK_NODE_MACHINE_FLAVOR": "m1.large", "OPENSTACK_EXTERNAL_NETWORK": "public",
	}
}

// stubbed are objects with the words of an openrc file where they are no secrets.
const stubbed = `apiVersion: openstack.k-orc.cloud/v1alpha1
kind: Network
metadata: {name: NAME, namespace: stub, labels: {cluster.x-k8s.io/provider: infrastructure-openstack}}
spec: {cloudCredentialsRef: {cloudName: openstack}, args: ["openstack network list"]}
---
apiVersion: v1
kind: Pod
metadata: {name: openstack-NAME, namespace: stub}
spec: {containers: [{name: ccm, image: "registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1"}]}
`

// stubContent writes the content of the binary, with stubs in place of what is released elsewhere.
func stubContent(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, root := range []string{"charts", "kustomize-components"} {
		part, err := fs.Sub(clusterinit.Content(), root)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(folder, root), part); err != nil {
			t.Fatal(err)
		}
	}
	stubs := 0
	components := filepath.Join(folder, "kustomize-components")
	err := filepath.WalkDir(components, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "kustomization.yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("https://")) {
			return err
		}
		stubs++
		if err := os.WriteFile(path, []byte("resources: [stub.yaml]\n"), 0o600); err != nil {
			return err
		}
		stub := strings.ReplaceAll(stubbed, "NAME", filepath.Base(filepath.Dir(path)))
		return os.WriteFile(filepath.Join(filepath.Dir(path), "stub.yaml"), []byte(stub), 0o600)
	})
	if err != nil || stubs == 0 {
		t.Fatalf("%d stubs, %v", stubs, err)
	}
	return folder
}

// The name of a cloud is no secret: with an openrc file nothing is masked but whole values, and those are the secrets.
func TestWhatAnOpenrcFileHidesIsOnlyItsSecrets(t *testing.T) {
	cleanShell(t, openrc())
	content := stubContent(t)
	whole := regexp.MustCompile(`(: |\s|^- )["']?\*\*\*["']?(\s|,|}|]|$)`)
	for name, tc := range map[string]struct {
		args []string
		says []string
	}{
		"values": {[]string{"show", "values", "kubeadm-capo"},
			[]string{"\n  openstack:\n", "control_plane_flavor: m1.large"}},
		"their files": {[]string{"show", "values", "kubeadm-capo", "--show-origin"},
			[]string{"cluster.openstack.worker_flavor"}},
		"as JSON": {[]string{"show", "values", "kubeadm-capo", "-o", "json"}, []string{`"openstack":{`}},
		"manifests": {[]string{"render", "kubeadm-capo", "--content", content}, []string{
			"apiVersion: openstack.k-orc.cloud/v1alpha1", "cluster.x-k8s.io/provider: infrastructure-openstack",
			"cloudName: openstack", "openstack network list", "provider-os/openstack-cloud-controller-manager:v1",
			"name: kubeadm-capo"}},
	} {
		code, out, errs := said(t, tc.args...)
		if code != 0 {
			t.Fatalf("%s: exit code %d: %s", name, code, errs)
		}
		for _, want := range tc.says {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing", name, want)
			}
		}
		if !strings.Contains(out, "***") || strings.Contains(out, "s3cretpw") {
			t.Errorf("%s: the password is not hidden", name)
		}
		for _, line := range strings.Split(out, "\n") {
			if name != "as JSON" && strings.Count(line, "***") != len(whole.FindAllString(line, -1)) {
				t.Errorf("%s: masked within a name or a text: %s", name, line)
			}
		}
	}
}

// Names of clusters become names of objects, containers and tags, some with suffixes: what does not fit is refused.
func TestNamesOfClusters(t *testing.T) {
	cleanShell(t, openrc())
	long := func(n int) string { return strings.Repeat("a", n) }
	const ok, refused = 0, 12
	for _, tc := range []struct {
		environment, name, namespace string
		code                         int
		says                         string
	}{
		{"kubeadm-capd", long(40), "", ok, ""},
		{"kubeadm-capd", long(41), "", refused, "'/cluster/name': maxLength: got 41, want 40"},
		{"kubeadm-capd", long(63), "", refused, "maxLength"}, {"kubeadm-capd", long(64), "", refused, "maxLength"},
		{"kubeadm-capd", long(20), long(30), ok, ""},
		{"kubeadm-capo", long(28), "", ok, ""},
		{"kubeadm-capo", long(29), "", refused,
			"management-" + long(29) + ", which has 40 characters: OpenStack's tags leave 39"},
		{"kubeadm-capo", long(20), long(30), refused, "which has 51 characters"},
		{"kubeadm-capd", "my.cluster", "", refused, "'my.cluster' does not match"},
		{"kubeadm-capd", "My-Cluster", "", refused, "'My-Cluster' does not match"},
		{"kubeadm-capd", "my_cluster", "", refused, "'my_cluster' does not match"},
		{"kubeadm-capd", "1st", "", refused, "'1st' does not match"},
		{"kubeadm-capd", "123", "", refused, "'123' does not match"},
		{"kubeadm-capd", "-x", "", refused, "'-x' does not match"},
		{"kubeadm-capd", "x-", "", refused, "'x-' does not match"},
		{"kubeadm-capd", "", "", refused, "'/cluster/name'"}, {"kubeadm-capd", "default", "", ok, ""},
		{"kubeadm-capd", "prod/edge", "", refused, "'prod/edge' does not match"},
		{"kubeadm-capd", "ed ge", "", refused, "'ed ge' does not match"},
		{"kubeadm-capd", "café", "", refused, "'café' does not match"},
		{"kubeadm-capd", "edge", "My.NS", refused, "'/cluster/namespace': 'My.NS' does not match"},
		{"kubeadm-capd", "edge", "default", ok, ""},
	} {
		args := []string{"show", "values", tc.environment, "--set", "cluster.name=" + tc.name}
		if tc.namespace != "" {
			args = append(args, "--set", "cluster.namespace="+tc.namespace)
		}
		code, _, errs := said(t, args...)
		hinted := code == ok || strings.Contains(errs, "hint:  ")
		if code != tc.code || !strings.Contains(errs, tc.says) || !hinted {
			t.Errorf("%q: exit code %d, want %d with %q: %s", args, code, tc.code, tc.says, errs)
		}
	}
}

// What a folder is called need not be fit for a cluster: init says so, and how to go on, and makes no file.
func TestFoldersThatAreNoNames(t *testing.T) {
	cleanShell(t, nil)
	for _, name := range []string{"My Edge.Site_01", strings.Repeat("a", 70), "edge.v2", "日本", "-x"} {
		folder := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		code, _, errs := said(t, "init", "kubeadm-capd", folder)
		if code != 2 || !strings.Contains(errs, `"`+name+`" cannot be the name of a cluster`) ||
			!strings.Contains(errs, "--name NAME") {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%s: %d files are left, %v", name, len(left), err)
		}
		code, out, errs := said(t, "init", "kubeadm-capd", filepath.Join(folder, "env"))
		if code != 0 || !strings.Contains(out+errs, "cluster-init up") {
			t.Errorf("%s/env: exit code %d: %s", name, code, errs)
		}
	}
}
