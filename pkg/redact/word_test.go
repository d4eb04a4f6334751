package redact_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/redact"
)

// A secret may also be a word of the content. It is redacted only as a whole value, and never in a key or within a
// name.
func TestASecretThatIsAWordGoesOnlyAsAValue(t *testing.T) {
	r := redact.New("management", "openstack", "kubeadm", "cluster")
	for _, text := range []string{
		"Kustomization/capi in the management cluster", "telco-cloud-init-openstack-credentials",
		"apiVersion: openstack.k-orc.cloud/v1alpha1",
		"registry.k8s.io/provider-os/openstack-cloud-controller-manager:v1.36.0", "openstack network list",
		"--cloud-provider=openstack",
		"kubeadm-capo", "name: management", "openstack:", "kind: cluster",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, tc := range [][2]string{
		{"password: management", "password: ***"}, {"  admin: \"openstack\"\nx: y", "  admin: \"***\"\nx: y"},
		{`{"extra":"kubeadm"}`, `{"extra":"***"}`},
		{base64.StdEncoding.EncodeToString([]byte("management")), "***"},
	} {
		if got := r.Text(tc[0]); got != tc[1] {
			t.Errorf("%q became %q, want %q", tc[0], got, tc[1])
		}
	}
	value := r.Value(map[string]any{"openstack": map[string]any{"password": "openstack", "cloud_name": "openstack",
		"image": "openstack", "args": []any{"kubeadm", "--x=kubeadm"}}})
	below := value.(map[string]any)["openstack"].(map[string]any)
	for key, want := range map[string]string{"password": "***", "cloud_name": "openstack", "image": "***"} {
		if below[key] != want {
			t.Errorf("%s: %v, want %s", key, below[key], want)
		}
	}
	if args := below["args"].([]any); args[0] != "***" || args[1] != "--x=kubeadm" {
		t.Errorf("args: %v", args)
	}
}

func TestKeysAreNeverMasked(t *testing.T) {
	value := redact.New("hunter22").Value(
		map[string]any{"hunter22": "hunter22 x", "a": []any{map[string]any{"x-hunter22": 1}}}).(map[string]any)
	if value["hunter22"] != "*** x" || value["a"].([]any)[0].(map[string]any)["x-hunter22"] != 1 {
		t.Errorf("%v", value)
	}
}

func TestSecretName(t *testing.T) {
	for _, name := range []string{"DB_PASS", "ENCRYPTION_KEY", "GH_PAT", "ghPat", "dbPass", "password", "OS_PASSWORD",
		"apiKey", "REGISTRY_AUTH", "passwords", "tokens", "secretKeys",
		"SSH_KEY_B64", "MY_APP_KEY", "unseal-key", "signingKey", "clientSecret", "DOCKER_PWD",
		"aws_secret_access_key"} {
		if !redact.SecretName(name) {
			t.Errorf("%s is no name of a secret", name)
		}
	}
	for _, name := range []string{"key", "topologyKey", "publicKey", "PUBLIC_KEY", "SSH_HOST_KEY", "secretName",
		"valuesFromSecret", "cert-manager.io/inject-ca-from-secret",
		"tokenSecretRef", "OPENSTACK_SSH_KEY_NAME", "compass", "bypass", "path", "PATH",
		"pattern", "author", "automountServiceAccountToken.x", "configMapKeyRef", "TOKEN_FILE", "keys", "labelKey",
		"PWD", "OLDPWD"} {
		if redact.SecretName(name) {
			t.Errorf("%s is the name of a secret", name)
		}
	}
}

// Names are public wherever they occur.
func TestNamesInSecretsArePublic(t *testing.T) {
	secrets := redact.FromValues(map[string]any{"cluster": map[string]any{"openstack": map[string]any{
		"cloud_name": "telco", "clouds_yaml_b64": "Y2xvdWRzOiB7fQ==", "projectName": "shop", "region": "RegionOne",
		"user": "bot", "user_domain_name": "Default-Domain"}},
		"list": []any{map[string]any{"name": "one-two", "value": "hidden-value"}}, "db_pass": "four"})
	got := strings.Join(secrets, " ")
	for _, public := range []string{"telco", "shop", "RegionOne", "bot", "Default-Domain", "one-two"} {
		if strings.Contains(got, public) {
			t.Errorf("%s is taken for a secret: %s", public, got)
		}
	}
	for _, secret := range []string{"Y2xvdWRzOiB7fQ==", "hidden-value", "four"} {
		if !strings.Contains(got, secret) {
			t.Errorf("%s is not taken for a secret: %s", secret, got)
		}
	}
}
