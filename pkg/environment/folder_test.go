package environment_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// An environment that is written into a folder is the same there, where no variable is set.
func TestFolderHoldsTheSameEnvironment(t *testing.T) {
	clouds := base64.StdEncoding.EncodeToString([]byte(`clouds: {telco: {auth: {auth_url: "https://keystone.example", ` +
		`user_id: u, password: s3cret, project_id: p}}}`))
	variables := map[string]string{"OPENSTACK_CLOUD_YAML_B64": clouds, "OPENSTACK_CLOUD": "telco",
		"OPENSTACK_IMAGE_NAME": "kube", "OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR": "m",
		"OPENSTACK_NODE_MACHINE_FLAVOR": "s",
		"OPENSTACK_EXTERNAL_NETWORK":    "public", "https_proxy": "http://u:s3cret@proxy:3128", "GITLAB_TOKEN": "glpat-x"}
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capo", Content: clusterinit.Content(),
		Variables: func(name string) (string, bool) { value, found := variables[name]; return value, found },
		Sets: []string{"cluster.name=edge", `components.capi.spec.postBuild.substitute.A=${B} $${C:=d}`,
			`components.capi.spec.postBuild.substitute.N="yes": '#1'`}})
	if err != nil {
		t.Fatal(err)
	}
	public, secret, err := env.Folder()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "edge")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, files := range []map[string][]byte{public, secret} {
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, content := range public {
		if strings.Contains(string(content), clouds) || strings.Contains(string(content), "s3cret") {
			t.Errorf("%s holds a secret", name)
		}
	}
	again, err := environment.Load(t.Context(), environment.Options{Name: folder, Content: clusterinit.Content()})
	if err != nil {
		t.Fatal(err)
	}
	want, err := env.Objects()
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Objects()
	if err != nil {
		t.Fatal(err)
	}
	want.Values.Annotations, got.Values.Annotations = nil, nil // where the values are from
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("not the same (-written +read):\n%s", diff)
	}
}

func TestMachineFiles(t *testing.T) {
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"cluster.registry_mirrors[0].host=quay.io",
			"cluster.registry_mirrors[0].url=https://mirror.example", "proxies.https_proxy=http://u:s3cret@proxy:3128",
			"cluster.trusted_cas=-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
			"cluster.bootstrap_provider=kubeadm"}})
	if err != nil {
		t.Fatal(err)
	}
	public, secret, commands, err := env.MachineFiles()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range append(public, secret...) {
		paths = append(paths, f.Path)
	}
	if diff := cmp.Diff([]string{"/etc/containerd/certs.d/quay.io/hosts.toml", "/etc/cluster-init.io/trusted-cas.pem",
		"/etc/systemd/system/containerd.service.d/http-proxy.conf"}, paths); diff != "" {
		t.Error(diff)
	}
	if len(commands) != 1 || !strings.Contains(commands[0], "update-ca-certificates") {
		t.Errorf("commands %q", commands)
	}
	if len(secret) != 1 || !strings.Contains(secret[0].Content, "HTTPS_PROXY=http://u:s3cret@proxy:3128") {
		t.Errorf("secret %v", secret)
	}
}
