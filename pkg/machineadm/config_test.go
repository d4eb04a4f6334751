package machineadm_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

const schemaFile = "../../docs/reference/machineconfig.schema.json"

// withFile is a release with one file.
func withFile(path, sources string) string {
	return "kubernetes: {version: v1.36.4, files: [{path: " + path + ", sources: {" + sources + "}}]}"
}

// bad are configurations with one mistake each. The schema also finds those that only need the form of a value.
var bad = map[string]struct {
	config, want string
	beyondSchema bool
}{
	"another kind": {config: "apiVersion: machineadm.cluster-init.io/v1alpha1\nkind: Pod", want: `kind: is "Pod"`},
	"no version":   {config: "kind: MachineConfig", want: `apiVersion: is ""`},
	"unknown key":  {config: header + "sysctl: {}", want: `unknown field "sysctl"`},
	"key twice": {config: header + "files: []\nfiles: []", want: `"files" already set`,
		beyondSchema: true},
	"module":         {config: header + "kernelModules: ['a b']", want: `kernelModules[0]: "a b" is not`},
	"an option":      {config: header + "kernelModules: ['-r']", want: `kernelModules[0]: "-r" is not`},
	"sysctl name":    {config: header + "sysctls: {'net/../../etc/passwd': '1'}", want: "is not the name of a kernel"},
	"sysctl root":    {config: header + "sysctls: {swap: '1'}", want: "is not the name of a kernel"},
	"sysctl value":   {config: header + "sysctls: {vm.a: \"1\\nvm.b = 2\"}", want: "sysctls.vm.a: the value"},
	"sysctl number":  {config: header + "sysctls: {vm.a: 1}", want: "cannot unmarshal number"},
	"no certificate": {config: header + "certificateAuthorities: hello", want: "is not a list of PEM certificates"},
	"a key": {config: header + "certificateAuthorities: |\n  -----BEGIN PRIVATE KEY-----\n  MIIB\n" +
		"  -----END PRIVATE KEY-----\n", want: `holds a block "PRIVATE KEY"`},
	"no proxy":       {config: header + "proxy: {noProxy: a}", want: "proxy: has neither http nor https"},
	"proxy":          {config: header + "proxy: {http: 'socks5://user:password@a'}", want: "proxy.http: is not a URL"},
	"quote in proxy": {config: header + "proxy: {http: 'http://a/\"\n'}", want: "proxy.http: is not a URL"},
	"driver":         {config: header + "containerd: {cgroupDriver: cgroup}", want: `is "cgroup", want systemd`},
	"mirror": {config: header + "containerd: {registryMirrors: [{host: ../a, url: 'http://a'}]}",
		want: `registryMirrors[0].host: "../a" is not`},
	"mirror twice": {config: header + "containerd:\n  registryMirrors:\n  - {host: a, url: 'http://a'}\n" +
		"  - {host: a, url: 'http://b'}",
		want:         `registryMirrors[1].host: "a" has a mirror already`,
		beyondSchema: true},
	"mirror of programs": {config: header + "kubernetes: {version: v1.36.4, mirror: 'ftp://user:password@a'}",
		want: "kubernetes.mirror: is not a URL"},
	"relative": {config: header + "files: [{path: etc/a, content: b}]", want: "files[0].path: \"etc/a\" is not"},
	"dots": {config: header + "files: [{path: /etc/../proc/a, content: b}]", want: "is not an absolute path",
		beyondSchema: true},
	"a foreign file": {config: header + "files: [{path: /etc/kubernetes/pki/ca.key, content: b}]", want: "is a place that",
		beyondSchema: true},
	"a file twice": {config: header + "files: [{path: /a, content: b}, {path: /a, content: c}]",
		want:         "is that of another file",
		beyondSchema: true},
	"mode":      {config: header + "files: [{path: /a, content: b, mode: '4755'}]", want: `files[0].mode: "4755"`},
	"a version": {config: header + "kubernetes: {version: '1.36'}", want: `kubernetes.version: "1.36" is not`},
	"a source": {config: header + withFile("/a", "riscv64: {url: 'http://a', sha256: a}"),
		want: `kubernetes.files[0].sources: has "riscv64"`},
	"a digest": {config: header + withFile("/a", "amd64: {url: 'http://a', sha256: AB}"),
		want: "kubernetes.files[0].sources.amd64.sha256: is not a SHA-256"},
	"a shim": {config: header + withFile("/usr/local/sbin/kubeadm", "amd64: {url: 'http://a', sha256: "+
		strings.Repeat("a", 64)+"}"), want: "is that of another file, or of the shim", beyondSchema: true},
	"no source": {config: header + withFile("/proc/a", ""),
		want: "kubernetes.files[0].path: /proc/a is a place"},
	"pod name": {config: header + "staticPods: [{name: ../a, content: b}]", want: "staticPods[0].name"},
	"no pod": {config: header + "staticPods: [{name: a, content: 'kind: Pod'}]",
		want:         "staticPods[0].content: is  Pod, want v1 Pod",
		beyondSchema: true},
	"kubeadm's pod": {config: header + "staticPods: [{name: a, content: '" +
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"etcd"}}` + "'}]",
		want: "metadata.name etcd is a Pod of kubeadm", beyondSchema: true},
}

func TestBadConfigs(t *testing.T) {
	schema := compile(t)
	for name, tc := range bad {
		_, err := machineadm.Parse([]byte(tc.config))
		if err == nil || !strings.Contains(err.Error(), tc.want) || fault.CodeOf(err) != fault.ValuesInvalid {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if err != nil && strings.Contains(err.Error(), "password@") {
			t.Errorf("%s: the message has a login: %v", name, err)
		}
		if valid := validate(t, schema, tc.config) == nil; valid != tc.beyondSchema {
			t.Errorf("%s: the schema allows it: %v", name, valid)
		}
	}
}

func TestGoodConfigs(t *testing.T) {
	schema := compile(t)
	for name, config := range map[string]string{"nothing": header, "everything": everything(t)} {
		_, err := machineadm.Parse([]byte(config))
		if err != nil || validate(t, schema, config) != nil {
			t.Errorf("%s: %v, %v", name, err, validate(t, schema, config))
		}
	}
	if _, err := machineadm.Parse(make([]byte, 2<<20)); err == nil || !strings.Contains(err.Error(), "2097152 bytes") {
		t.Error(err)
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, config string) error {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	content, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(content)
}

// The schema names the version and the kinds that the code has, and each of its fields.
func TestSchemaHasAllFields(t *testing.T) {
	content, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var config map[string]any
	if err := json.Unmarshal([]byte(everything(t)), &config); err != nil {
		t.Fatal(err)
	}
	for _, name := range fieldsOf(config, false) {
		if !strings.Contains(string(content), `"`+name+`"`) {
			t.Errorf("the schema has no %s", name)
		}
	}
}

// fieldsOf returns the names of fields at any depth, without those of parameters.
func fieldsOf(value any, named bool) (names []string) {
	switch value := value.(type) {
	case map[string]any:
		for name, below := range value {
			if !named {
				names = append(names, name)
			}
			names = append(names, fieldsOf(below, name == "sysctls")...)
		}
	case []any:
		for _, below := range value {
			names = append(names, fieldsOf(below, false)...)
		}
	}
	return names
}

// The program stays small: it has nothing of Kubernetes' clients.
func TestProgramIsSmall(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../cmd/machineadm").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "k8s.io/") || strings.Contains(name, "controller-runtime") {
			t.Errorf("machineadm has %s", name)
		}
	}
}

// No configuration makes the parser fail otherwise than with an error, or pass what the schema refuses by its form.
func FuzzParse(f *testing.F) {
	for _, tc := range bad {
		f.Add(tc.config)
	}
	f.Fuzz(func(t *testing.T, config string) {
		if parsed, err := machineadm.Parse([]byte(config)); err == nil && parsed.Kind != machineadm.ConfigKind {
			t.Errorf("%q is %+v", config, parsed)
		}
	})
}
