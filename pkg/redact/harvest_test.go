package redact_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/redact"
)

func TestSecretsOfTheProcessEnvironment(t *testing.T) {
	got := redact.FromEnvironment([]string{"GITLAB_TOKEN=glsecret", "HOME=/root",
		"https_proxy=http://user:p%40ss@proxy:3128", "http_proxy=http://proxy:3128",
		"no_proxy=10.0.0.0/8", "SSH_AUTH_SOCK=/tmp/agent", "AWS_SECRET_ACCESS_KEY=awssecret", "OS_PASSWORD=", "BROKEN"})
	for _, want := range []string{"glsecret", "p@ss", "awssecret"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	for _, s := range got {
		if strings.Contains(s, "/") || s == "user" {
			t.Errorf("%q is no secret", s)
		}
	}
}

func TestSecretsOfValues(t *testing.T) {
	var document map[string]any
	err := yaml.Unmarshal([]byte(`
git_auth_default: {username: gitlab-ci-token, password: gitsecret}
proxies: {http_proxy: "http://user:proxysecret@proxy:3128", https_proxy: "http://proxy:3128", no_proxy: "10.0.0.0/8,localhost"}
registry_secret: {registry.example.org: {username: bot, password: 12345678}}
anything: s3cr
debug: true
replicas: 3
verify: "false"
clouds.yaml: |
  clouds:
    capo:
      region_name: RegionOne
      auth: {auth_url: "https://keystone.example.org", username: bot, password: cloudsecret, application_credential_secret: appsecret}
`), &document)
	if err != nil {
		t.Fatal(err)
	}
	got := redact.FromValues(document)
	for _, want := range []string{"gitsecret", "proxysecret", "12345678", "s3cr", "cloudsecret", "appsecret"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	for _, not := range []string{"gitlab-ci-token", "bot", "http://proxy:3128", "10.0.0.0/8,localhost", "true", "false",
		"3", "RegionOne", "https://keystone.example.org"} {
		if slices.Contains(got, not) {
			t.Errorf("%q is no secret", not)
		}
	}
}

func TestSecretsWithinSecrets(t *testing.T) {
	key := "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIEa0123456789abcdefghijklmnopqrstuvwxyz\n-----END EC PRIVATE " +
		"KEY-----\n"
	in64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	const line = "MHcCAQEEIEa0123456789abcdefghijklmnopqrstuvwxyz"
	cases := map[string]struct {
		key, value string
		want       []string
	}{
		"a private key": {"tls.key", key, []string{line}},
		"a kubeconfig": {"value", "users:\n- name: admin\n  user: {client-key-data: " + in64(key) +
			", token: usertoken, password: userpass}\n", []string{line, in64(key), "usertoken", "userpass"}},
		"a cloud-config": {"value", "#cloud-config\nwrite_files:\n- path: /etc/ca.key\n  content: |\n    " +
			strings.ReplaceAll(key, "\n", "\n    ") + "\n- path: /etc/rke2\n  content: |\n    server: https://x\n    " +
			"token: rketoken\n", []string{line, "rketoken"}},
		"a Docker configuration": {".dockerconfigjson",
			`{"auths":{"registry":{"username":"bot","password":"regpass","auth":"` + in64("bot:otherpass") + `"}}}`,
			[]string{"regpass", "otherpass", in64("bot:otherpass")}},
		"credentials of AWS": {"credentials", "[default]\naws_access_key_id = AKIA\naws_secret_access_key = " +
			"awssecret\n", []string{"awssecret"}},
		"the same in base64": {"values.yaml", "aws: {profile: " +
			in64("[default]\naws_secret_access_key = awssecret\n") + "}", []string{"awssecret"}},
		"a short password": {"password", "abcd", []string{"abcd"}},
		"a value as it is": {"anything", "long enough", []string{"long enough"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := redact.FromSecret(tc.key, tc.value)
			for _, want := range tc.want {
				if !slices.Contains(got, want) {
					t.Errorf("%q is not among %q", want, got)
				}
			}
		})
	}
	for _, tc := range [][2]string{{"usage", "true"}, {"username", "gitlab-ci-token"}, {"namespace", "kube-system"},
		{"format", "cloud-config"}} {
		if got := redact.FromSecret(tc[0], tc[1]); len(got) > 0 {
			t.Errorf("%s: %q is taken for a secret", tc[0], got)
		}
	}
}

// A text that aliases repeat, at every level, is searched once.
func TestRepeatedTextsAreReadOnce(t *testing.T) {
	text := "password: hunter2-hunter2\n"
	for range 6 {
		text = "a: &a |\n  " + strings.ReplaceAll(text, "\n", "\n  ") + "\nb: [" + strings.Repeat("*a,", 200) + "]\n"
	}
	if got := redact.FromSecret("config", text); !slices.Contains(got, "hunter2-hunter2") || len(got) > 1000 {
		t.Errorf("got %d secrets", len(got))
	}
}
