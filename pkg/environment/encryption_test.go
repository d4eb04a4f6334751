package environment_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// encryptionKey is 32 bytes.
const encryptionKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

// The keys are in a Secret next to the cluster, in each cluster that makes its machines, and nowhere else. Those that
// encrypt come first.
func TestEncryptionKeys(t *testing.T) {
	const at = "cluster.kubernetes.encryption_at_rest.keys"
	second := []string{at + "[1].name=two", at + "[1].secret=" + encryptionKey}
	const one = `{"name":"one","secret":"` + encryptionKey + `"}`
	const two = `{"name":"two","secret":"` + encryptionKey + `"}`
	names := map[string]bool{}
	for name, tc := range map[string]struct {
		sets []string
		want string
	}{
		"one key": {nil, `[{"secretbox":{"keys":[` + one + `]}},{"identity":{}}]`},
		"one that decrypts": {[]string{at + "[0].decrypt_only=true"},
			`[{"identity":{}},{"secretbox":{"keys":[` + one + `]}}]`},
		"two keys": {second, `[{"secretbox":{"keys":[` + one + `,` + two + `]}},{"identity":{}}]`},
		"the second encrypts": {append(second, at+"[0].decrypt_only=true"),
			`[{"secretbox":{"keys":[` + two + `,` + one + `]}},{"identity":{}}]`},
		"another algorithm": {[]string{"cluster.kubernetes.encryption_at_rest.provider=aescbc"},
			`[{"aescbc":{"keys":[` + one + `]}},{"identity":{}}]`},
	} {
		env := load(t, withKubernetes(t, "kubeadm-capd", tc.sets...))
		spec := configurations(t, env)["KubeadmControlPlane"]
		refers := contentOfFiles(spec)["/etc/kubernetes/cluster-init/encryption.json"]
		for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
			rendered, err := env.Render(phase, nil)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, o := range rendered {
				text, _ := o.MarshalJSON()
				if strings.Contains(string(text), encryptionKey) {
					found = append(found, o.GetKind()+" "+o.GetName())
					data, _, _ := unstructured.NestedString(o.Object, "stringData", "encryption.json")
					if !strings.Contains(data, `"providers":`+tc.want) || o.GetNamespace() != "management" {
						t.Errorf("%s: %s has %s", name, phase, data)
					}
					names[o.GetName()] = true
				}
			}
			if !slices.Equal(found, []string{"Secret " + refers}) {
				t.Errorf("%s: %s has the keys in %q, and machines refer to %s", name, phase, found, refers)
			}
		}
	}
	// As from Git: no fingerprint.
	for _, sets := range [][]string{nil, second, {at + "[0].decrypt_only=true"}} {
		env := load(t, withKubernetes(t, "kubeadm-capd", append(sets, "secret_fingerprint_key=")...))
		spec := configurations(t, env)["KubeadmControlPlane"]
		names[contentOfFiles(spec)["/etc/kubernetes/cluster-init/encryption.json"]] = true
	}
	if len(names) != 8 {
		t.Errorf("other keys leave the machines as they are: %v", names)
	}
}
