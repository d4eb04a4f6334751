package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mirrored is a registries.yaml as CAPRKE2 writes it: JSON's field names, and always both maps.
const mirrored = `
mirrors:
  docker.io:
    endpoint:
      - http://registry:5000/v2/docker.io
      - https://second.example
  "*":
    endpoint:
      - https://second.example
configs:
  second.example:
    auth:
      username: u
      password: p
    tls:
      ca_file: /etc/rancher/rke2/tls/ca.crt
      insecure_skip_verify: true
  private.example:5000:
    tls:
      cert_file: /c
      key_file: /k
`

const second = `[host."https://second.example"]
  capabilities = ["pull", "resolve"]
  skip_verify = true
  ca = ["/etc/rancher/rke2/tls/ca.crt"]
  [host."https://second.example".header]
    Authorization = ["Basic dTpw"]
`

func TestHostsFiles(t *testing.T) {
	got, err := hostsFiles([]byte(mirrored), false)
	want := map[string]string{
		"docker.io": `[host."http://registry:5000/v2/docker.io"]
  capabilities = ["pull", "resolve"]
  override_path = true
` + second,
		"_default":       second,
		"second.example": second,
		"private.example:5000": `[host."https://private.example:5000"]
  capabilities = ["pull", "resolve"]
  client = [["/c", "/k"]]
`,
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}

func TestHostsFilesNamesAHostOnce(t *testing.T) {
	got, err := hostsFiles([]byte(`{"mirrors": {"docker.io": {"endpoint": ["https://registry-1.docker.io"]}},
		"configs": {"docker.io": {"auth": {"auth": "dTpw"}}}}`), false)
	text := got["docker.io"]
	if err != nil || strings.Count(text, "capabilities") != 1 || !strings.Contains(text, "Basic dTpw") {
		t.Errorf("got %q (%v)", got, err)
	}
}

func TestHostsFilesRefuses(t *testing.T) {
	tests := map[string]struct{ content, want string }{
		"rewrite rules": {`{"mirrors": {"a.io": {"endpoint": ["https://b.io"], "rewrite": {"^x": "y"}}}}`,
			"a.io has rewrite"},
		"no URL":            {`{"mirrors": {"a.io": {"endpoint": ["b.io:5000"]}}}`, "a.io"},
		"login by a token":  {`{"configs": {"a.io": {"auth": {"identitytoken": "s3cret"}}}}`, "a.io"},
		"no mapping":        {`[s3cret]`, "mirrors and configs"},
		"password, not map": {`{"configs": {"a.io": {"auth": "s3cret"}}}`, "mirrors and configs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := hostsFiles([]byte(test.content), false)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestWriteRegistriesKeepsPasswordsFromOthers(t *testing.T) {
	p := paths{root: t.TempDir()}
	if err := writeRegistries(p, false); err != nil {
		t.Fatalf("without a registries.yaml: %v", err)
	}
	if err := writeFile(p.registries(), []byte(mirrored)); err != nil {
		t.Fatal(err)
	}
	if err := writeRegistries(p, false); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(p.certsD(), "*", "hosts.toml"))
	if err != nil || len(files) != 4 {
		t.Fatalf("got %v (%v)", files, err)
	}
	slices.Sort(files)
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v (%v)", file, info, err)
		}
	}
}

// What the original registry would be asked for, the last mirror is.
func TestHostsFilesWithoutTheOriginalRegistry(t *testing.T) {
	got, err := hostsFiles([]byte(`
mirrors:
  quay.io:
    endpoint: [https://first.example, http://last:5000/v2/quay.io]
configs:
  quay.io:
    tls: {insecure_skip_verify: true}
  last:5000:
    auth: {username: u, password: p}
`), true)
	want := `server = "http://last:5000/v2/quay.io"
  capabilities = ["pull", "resolve"]
  override_path = true
  [header]
    Authorization = ["Basic dTpw"]
[host."https://first.example"]
  capabilities = ["pull", "resolve"]
`
	if err != nil || got["quay.io"] != want {
		t.Errorf("got %q (%v)", got["quay.io"], err)
	}
}
