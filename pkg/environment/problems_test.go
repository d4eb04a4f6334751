package environment_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// messages loads what cannot be loaded and returns each problem, in order.
func messages(t *testing.T, options environment.Options) []string {
	t.Helper()
	options.Content = clusterinit.Content()
	_, err := environment.Load(t.Context(), options)
	var texts []string
	for _, problem := range fault.Problems(err) {
		if fault.CodeOf(problem) == fault.Unknown {
			t.Errorf("no code: %v", problem)
		}
		texts = append(texts, problem.Error())
	}
	return texts
}

func noCloud(_ context.Context, name string) (string, bool, error) {
	if strings.HasPrefix(name, "OPENSTACK_CLOUD") {
		return "", false, fault.New(fault.CredentialsMissing, "no credentials", "log in")
	}
	return "", false, nil
}

// A user who has set nothing gets every problem in one run, and none that only follows from another.
func TestEverythingThatIsMissing(t *testing.T) {
	got := messages(t, environment.Options{Name: "kubeadm-capo", Derive: noCloud,
		Check: func(env *environment.Environment) error {
			return fault.New(fault.Usage, "no source for "+env.InfraProvider(), "")
		}})
	want := []string{
		"built-in environment-values/kubeadm-capo/infra-secrets.yaml: no credentials",
		"built-in environment-values/kubeadm-capo/values.yaml: cluster.openstack.image is empty",
		"built-in environment-values/kubeadm-capo/values.yaml: cluster.openstack.control_plane_flavor is empty",
		"built-in environment-values/kubeadm-capo/values.yaml: cluster.openstack.worker_flavor is empty",
		"built-in environment-values/kubeadm-capo/values.yaml: cluster.openstack.external_network is empty, but " +
			"api_server.mode is floating-ip",
		"no source for capo",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each problem names the place that its value comes from.
func TestProblemsNameTheirPlace(t *testing.T) {
	own := folder(t, map[string]string{"kustomization.yaml": strings.Replace(secretsOf, "values.yaml]",
		"values.yaml=mine.yaml]", 1),
		"mine.yaml": `
cluster:
  name: ${CLUSTER_INIT_VAR_A}-${CLUSTER_INIT_VAR_B}
  worker: {replicas: many}
  control_plane: {replicas: "${CLUSTER_INIT_VAR_N}"}
  pod_cidr: 10.0.0.0/8
components: {capd: {enabled: true}, cluster: {enabled: true}}
`, "secrets.yaml": "# none\n", "infra.yaml": "cluster: {imag: x}\n"})
	more := filepath.Join(t.TempDir(), "more")
	if err := os.WriteFile(more, []byte("cluster: {service_cidr: 10.1.0.0/16}\ncni: \"${OS_CNI}\"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	got := messages(t, environment.Options{Name: own + "/", ValuesFiles: []string{more},
		Sets: []string{"components.kapi.enabled=true", "phase=x"}})
	want := []string{
		own + "/mine.yaml: line 3: variable CLUSTER_INIT_VAR_A is not set",
		own + "/mine.yaml: line 3: variable CLUSTER_INIT_VAR_B is not set",
		own + "/mine.yaml: line 5: variable CLUSTER_INIT_VAR_N is not set",
		more + ": line 2: variable OS_CNI is not set",
		`--set: there is no component "kapi"`,
		own + "/mine.yaml: at '/cluster/worker/replicas': got string, want null or integer",
		own + "/infra.yaml: at '/cluster': additional properties 'imag' not allowed",
		more + ": cluster.pod_cidr 10.0.0.0/8 overlaps cluster.service_cidr 10.1.0.0/16",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of files that give the same value differently, the one that won is named, not the one that was read last.
func TestTheFileThatWonIsNamed(t *testing.T) {
	own := folder(t, map[string]string{"kustomization.yaml": `namespace: flux-system
generatorOptions: {disableNameSuffixHash: true}
configMapGenerator:
  - {name: management-cluster-values, files: [values.yaml]}
secretGenerator:
  - {name: management-cluster-infra-secrets, files: [values.yaml=infra.yaml]}
  - {name: management-cluster-secrets, files: [values.yaml=secrets.yaml]}
`, "values.yaml": "components: {capd: {enabled: true}, cluster: {enabled: true}}\n", "infra.yaml": "cni: flannel\n", "secrets.yaml": "cni: calico\n"})
	want := []string{own + "/infra.yaml: at '/cni': value must be one of 'calico', 'custom', 'none'"}
	if diff := cmp.Diff(want, messages(t, environment.Options{Name: own})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What is next to the user's folder belongs to the user. What comes from the binary does not.
func TestFilesBesideTheFolder(t *testing.T) {
	own := folder(t, map[string]string{"kustomization.yaml": "resources: [../kubeadm-capo]\n"})
	t.Chdir(filepath.Dir(own))
	got := messages(t, environment.Options{Name: "./mine", Derive: noCloud})
	if want := "built-in environment-values/kubeadm-capo/infra-secrets.yaml: no credentials"; len(got) == 0 ||
		got[0] != want {
		t.Errorf("got %q, want %q first", got, want)
	}
	if err := os.CopyFS("kubeadm-capo", os.DirFS(own)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("kubeadm-capo/kustomization.yaml", []byte("resources: [\"${OS_X}\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"kubeadm-capo/kustomization.yaml: line 1: variables are filled in only in files of values and " +
		"secrets"}
	if diff := cmp.Diff(want, messages(t, environment.Options{Name: "./mine"})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A built-in environment fills no gaps in a user's folder of the same name: its values and secrets are not the user's.
func TestABuiltInEnvironmentFillsNoGaps(t *testing.T) {
	own := folder(t, map[string]string{"kustomization.yaml": onBase})
	root := filepath.Dir(own)
	t.Chdir(root)
	if err := os.Rename(own, "kubeadm-capd"); err != nil {
		t.Fatal(err)
	}
	// kubeadm-capd/values.yaml is missing on the disk, and exists in the content.
	want := []string{"./kubeadm-capd/kustomization.yaml: line 7: configMapGenerator: \"values.yaml\" is neither a " +
		"file nor a folder"}
	if diff := cmp.Diff(want, messages(t, environment.Options{Name: "./kubeadm-capd"})); diff != "" {
		t.Errorf("a missing file (-want +got):\n%s", diff)
	}
	if err := errors.Join(os.Rename("kubeadm-capd", "mine"), os.WriteFile("mine/values.yaml", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func() error{
		"an empty folder": func() error { return os.Mkdir("base", 0o700) },
		"a broken link":   func() error { return os.Symlink("gone", "base") },
	} {
		if err := put(); err != nil {
			t.Fatal(err)
		}
		if got := messages(t, environment.Options{Name: "./mine"}); len(got) != 1 || !strings.Contains(got[0], "base") {
			t.Errorf("%s: got %q", name, got)
		}
		if err := os.Remove("base"); err != nil {
			t.Fatal(err)
		}
	}
}

// The same mistake gives the same message in each run.
func TestUnknownKeysAreSorted(t *testing.T) {
	got := messages(t, environment.Options{Name: "kubeadm-capd", Sets: []string{
		"cluster.zd=1,cluster.zf=1,cluster.zb=1,cluster.za=1,cluster.ze=1,cluster.zc=1,cluster.zg=1"}})
	const want = "additional properties 'za', 'zb', 'zc', 'zd', 'ze', 'zf', 'zg' not allowed"
	if len(got) != 1 || !strings.HasSuffix(got[0], want) {
		t.Errorf("got %q, want %s", got, want)
	}
}

// A file without values means none, whatever is in it.
func TestEmptyFilesMeanNone(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "a comment": "# nothing yet\n", "a document": "---\n",
		"null": "null\n", "a map": "{}\n"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "more.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			own := folder(t, map[string]string{"kustomization.yaml": secretsOf, "values.yaml": text,
				"secrets.yaml": text, "infra.yaml": text})
			env := load(t, environment.Options{Name: own, ValuesFiles: []string{file},
				Sets: []string{"components.capd.enabled=true", "components.cluster.enabled=true"}})
			if got := env.ClusterName(); got != "management-cluster" {
				t.Errorf("the cluster is called %s, not as the chart calls it", got)
			}
		})
	}
}

// What cannot be found out is reported as that.
func TestFailedLookupIsNotADefault(t *testing.T) {
	own := folder(t, map[string]string{"kustomization.yaml": strings.Replace(onBase, "../base", "../kubeadm-capd", 1),
		"values.yaml": "cluster: {name: x, image: \"${OS_IMAGE:=y}\"}\ncomponents: {capd: {enabled: true}, cluster: " +
			"{enabled: true}}\n"})
	broken := errors.New("the cloud does not say")
	_, err := environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content(),
		Derive: func(_ context.Context, name string) (string, bool, error) {
			if name == "OS_IMAGE" {
				return "", false, broken
			}
			return "", false, nil
		}})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// An empty document counts for nothing; text may have any space inside.
func TestDocumentsAndSpacesThatDoNoHarm(t *testing.T) {
	for name, text := range map[string]string{
		"an empty document after it":  "cluster: {name: mine}\n---\n# nothing more\n",
		"an empty document before it": "# none\n---\n---\ncluster: {name: mine}\n",
		"a space inside of a text": "cluster: {name: mine}\ngit_auth_default: {username: \"a\u00a0b\", password: " +
			"a\u00a0b}\n# a\u00a0comment\n",
	} {
		t.Run(name, func(t *testing.T) {
			own := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd\n", "secrets.yaml": text})
			if got := load(t, environment.Options{Name: own}).ClusterName(); got != "mine" {
				t.Errorf("the cluster is called %s", got)
			}
		})
	}
}
