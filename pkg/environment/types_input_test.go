package environment_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// reference is a value that is one variable and nothing else.
var reference = regexp.MustCompile(`^\$\{([A-Za-z_0-9]+)(:=.*)?\}$`)

// references are the values that the files of an environment, and of its base, take from variables, by the values'
// names.
func references(t *testing.T, name string) map[string]string {
	t.Helper()
	found := map[string]string{}
	var visit func(at string, value any)
	visit = func(at string, value any) {
		switch typed := value.(type) {
		case map[string]any:
			for key, nested := range typed {
				visit(strings.TrimPrefix(at+"."+key, "."), nested)
			}
		case []any:
			for i, nested := range typed {
				visit(fmt.Sprintf("%s.%d", at, i), nested)
			}
		case string:
			if match := reference.FindStringSubmatch(typed); match != nil {
				found[at] = match[1]
			}
		}
	}
	for _, folder := range []string{"base", name} {
		files, err := fs.Glob(clusterinit.Content(), path.Join("environment-values", folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := fs.ReadFile(clusterinit.Content(), file)
			if err != nil {
				t.Fatal(err)
			}
			var values map[string]any
			if err := yaml.Unmarshal(text, &values); err != nil {
				t.Fatal(err)
			}
			visit("", values)
		}
	}
	return found
}

// Whatever a variable of the shell holds: the values have it as text, and so has what Helm reads in the cluster.
func TestAnyTextOfTheShellStaysText(t *testing.T) {
	all := sources(t)
	for name, times := range map[string]int{"kubeadm-capo": len(hostile), "kubeadm-capd": 3, "kubeadm-capa": 3} {
		references := references(t, name)
		for round := range times {
			shell := allVariables()
			want := map[string]string{}
			for i, source := range all {
				variable, given := references[source.name()]
				for j := range hostile { // the next text that the value may have
					value, _, fits := source.holding(hostile[(round+i+j)%len(hostile)])
					if given && fits {
						shell[variable], want[source.name()] = value, value
						break
					}
				}
			}
			if cloud, given := want["cluster.openstack.cloud_name"]; given {
				shell["OPENSTACK_CLOUD_YAML_B64"] = cloudsFile(t, cloud)
			}
			// A login that nothing needs is not stored: a component reads this repository.
			repository := withRepo("https://git.example.org/a.git", "git_auth_default.hosts={git.example.org}")
			env := load(t, environment.Options{Name: name, Variables: variables(shell), Sets: repository})
			for who, values := range map[string]map[string]any{"Values": env.Values(environment.Management),
				"what Helm makes of the objects": asHelm(t, env)} {
				for path, value := range want {
					if diff := cmp.Diff(any(value), at(values, path)); diff != "" {
						t.Errorf("%s: %s: %s, $%s (-want +got):\n%s", name, who, path, references[path], diff)
					}
				}
			}
			if len(want) < 3 {
				t.Errorf("%s: only %d values are from variables: %v", name, len(want), want)
			}
		}
	}
}

// number matches hashes that YAML takes for a number.
var number = regexp.MustCompile(`^([0-9]{8}|[0-9]{6}e[0-9])$`)

// Credentials whose hash looks like a number are not refused for ever.
func TestHashesOfCredentialsAreText(t *testing.T) {
	shell := allVariables()
	profile, digest := "", ""
	for i := 0; !number.MatchString(digest); i++ {
		profile = encoded(fmt.Sprintf("[default]\naws_access_key_id = %d\n", i))
		digest = fmt.Sprintf("%x", sha256.Sum256([]byte("a\n"+profile)))[:8]
	}
	shell["AWS_B64ENCODED_CREDENTIALS"] = profile
	checkHash(t, load(t, environment.Options{Name: "kubeadm-capa", Variables: variables(shell),
		Sets: []string{"secret_fingerprint_key=a"}}), digest, "capa")

	secret := find(t, rendered(t, capo(t, "kubeadm-capo", nil)), "Secret", "telco-cloud-init-openstack-credentials")
	credentials, _, err := unstructured.NestedStringMap(secret.Object, "stringData")
	if err != nil {
		t.Fatal(err)
	}
	digest = ""
	for i := 0; !number.MatchString(digest); i++ {
		shell["OPENSTACK_CLOUD_YAML_B64"] = encoded(fmt.Sprintf("%s# %d\n", passwordCloud, i))
		credentials["OPENSTACK_CLOUD_YAML_B64"] = `"` + shell["OPENSTACK_CLOUD_YAML_B64"] + `"`
		text, err := json.Marshal(credentials)
		if err != nil {
			t.Fatal(err)
		}
		digest = fmt.Sprintf("%x", sha256.Sum256([]byte("a\n"+string(text))))[:8]
	}
	checkHash(t, capo(t, "kubeadm-capo", shell, "components.cinder-csi.enabled=true", "secret_fingerprint_key=a"),
		digest, "cloud-provider", "cinder-csi")
}

// checkHash looks for a hash in the pods that components make.
func checkHash(t *testing.T, env *environment.Environment, digest string, components ...string) {
	t.Helper()
	for _, component := range components {
		seen := 0
		for _, object := range applied(t, env, component) {
			got, found, err := unstructured.NestedFieldNoCopy(object.Object, "spec", "template", "metadata",
				"annotations", "cluster-init.io/credentials")
			if !found && err == nil {
				continue
			}
			if seen++; got != digest {
				t.Errorf("%s: %s %s has the hash %v, a %T, want %q (%v)", component, object.GetKind(), object.GetName(),
					got, got, digest, err)
			}
		}
		if seen == 0 {
			t.Errorf("%s: no pod has a hash", component)
		}
	}
}

func rendered(t *testing.T, env *environment.Environment) []*unstructured.Unstructured {
	t.Helper()
	objects, err := env.Render(environment.Management, nil)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
