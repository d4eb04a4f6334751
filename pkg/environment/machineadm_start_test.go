package environment_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// stubCurl stands for curl: it fails as often as the file `failures` has lines, with the text of the file `error`, and
// then copies the file `served`.
const stubCurl = `#!/bin/sh
echo "$@" >>%[1]s/asked
echo "$CURL_CA_BUNDLE $https_proxy" >>%[1]s/environment
if test -s %[1]s/failures; then
  sed -i 1d %[1]s/failures
  cat %[1]s/error >&2
  exit 7
fi
while test "$1" != -o; do shift; done
cp %[1]s/served "$2"
`

// runnable stands for machineadm.
const runnable = "#!/bin/sh\ntest \"$1\" = version || echo \"ran $1\"\n"

// templatesOfScript matches the templates that a start script is for.
var templatesOfScript = regexp.MustCompile(`(?m)^([0-9a-f]{8})[0-9a-f|]*\) ;;$`)

// startedMachine is a folder that stands for a machine on which the start script runs.
type startedMachine struct {
	root, script string
	files        map[string]string // what stubCurl reads
	template     string            // of the machine; empty is one that the script is for
}

// run returns the exit code and the output of the script.
func (m startedMachine) run(t *testing.T) (code int, out string) {
	t.Helper()
	for _, folder := range []string{"bin", "run", "opt", "etc"} {
		must(t, os.MkdirAll(filepath.Join(m.root, folder), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(m.root, "bin/curl"), fmt.Appendf(nil, stubCurl, m.root), 0o755))
	must(t, os.WriteFile(filepath.Join(m.root, "bin/sleep"), []byte("#!/bin/sh\n"), 0o755))
	for name, content := range m.files {
		must(t, os.WriteFile(filepath.Join(m.root, name), []byte(content), 0o755))
	}
	script := strings.NewReplacer("/run/cluster-api", m.root+"/run", "/opt/machineadm", m.root+"/opt/machineadm",
		"/dev/console", m.root+"/console", "/etc/ssl/certs/ca-certificates.crt", m.root+"/etc/cas").Replace(m.script)
	template := m.template
	if found := templatesOfScript.FindStringSubmatch(m.script); template == "" && found != nil {
		template = found[1]
	}
	command := exec.CommandContext(t.Context(), "sh", "-s", template)
	command.Stdin = strings.NewReader(script)
	command.Env = []string{"PATH=" + m.root + "/bin:" + os.Getenv("PATH")}
	output, _ := command.CombinedOutput()
	return command.ProcessState.ExitCode(), string(output)
}

func (m startedMachine) content(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(m.root, path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(content)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// The script starts machineadm, wherever it comes from and however late it answers.
func TestMachineadmIsStarted(t *testing.T) {
	const sets = "cluster.machineadm."
	for name, tc := range map[string]struct {
		source, asked string
		files         map[string]string
	}{
		"address": {"https://example.org/m_{arch}_v1", "https://example.org/m_amd64_v1", nil},
		"repository": {"oci://example.org:5000/a/b",
			"https://example.org:5000/v2/a/b/blobs/sha256:" + digestOf(runnable), nil},
		"late": {"https://example.org/m", "https://example.org/m",
			map[string]string{"failures": "1\n2\n3\n", "error": "reset"}},
		"image": {"image", "", map[string]string{"bin/machineadm": runnable}},
		"file":  {"file:///ROOT/m", "", map[string]string{"m": runnable}},
	} {
		t.Run(name, func(t *testing.T) {
			m := startedMachine{root: t.TempDir(), files: map[string]string{"served": runnable, "etc/cas": "system\n"}}
			env := load(t, machineadmOptions(t, "kubeadm-capd", sets+"source="+tc.source,
				sets+"sha256.amd64="+digestOf(runnable), "proxies.https_proxy=http://us'er:p@proxy:3128"))
			m.script = strings.ReplaceAll(startScript(t, env), "/ROOT", m.root)
			for path, content := range tc.files {
				m.files[path] = content
			}
			code, out := m.run(t)
			if code != 0 || out != "ran prepare\n" || m.content(t, "opt/machineadm/bin/machineadm") != runnable {
				t.Errorf("ended with %d: %s", code, out)
			}
			asked := strings.TrimSpace(m.content(t, "asked"))
			if tc.asked != "" && !strings.HasSuffix(asked, tc.asked) || tc.asked == "" && asked != "" {
				t.Errorf("asked for %q, want %q", asked, tc.asked)
			}
			if environment := m.content(t, "environment"); tc.asked != "" &&
				!strings.Contains(environment, "http://us'er:p@proxy:3128") {
				t.Errorf("curl has %q", environment)
			}
		})
	}
}

// A machine of a former template does not get a newer configuration.
func TestMachineadmOfAFormerTemplate(t *testing.T) {
	env := load(t, machineadmOptions(t, "kubeadm-capd", "cluster.machineadm.source=https://example.org/m",
		"cluster.machineadm.sha256.amd64="+digestOf(runnable)))
	m := startedMachine{root: t.TempDir(), files: map[string]string{"served": runnable}, script: startScript(t, env),
		template: "0a1b2c3d"}
	code, out := m.run(t)
	if code != 1 || !strings.Contains(out, "the machine is of a former template") || m.content(t, "asked") != "" {
		t.Errorf("ended with %d: %s", code, out)
	}
	for kind, spec := range configurations(t, env) {
		commands, _, _ := unstructured.NestedStringSlice(spec, "preKubeadmCommands")
		words := strings.Fields(commands[0])
		if !strings.Contains(m.script, words[2]) {
			t.Errorf("%s starts with %q, which the script does not know", kind, commands[0])
		}
	}
}

// What cannot be started is reported as machineadm reports, without logins. Nothing with another digest runs, and a
// program that runs already stays.
func TestMachineadmIsNotStarted(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"another digest": {map[string]string{"served": runnable + "# other\n"},
			"the digest of https://example.org/m is " + digestOf(runnable+"# other\n") + ", want " + digestOf(runnable)},
		"no answer": {map[string]string{"failures": strings.Repeat("1\n", 1000),
			"error": `curl: (5) Unsupported proxy syntax in 'http://u:se@cret@h:3128' "quoted" \ and` + "\t" + `more`},
			"https://example.org/m: curl: (5) Unsupported proxy syntax in  http://h:3128   quoted"},
	} {
		t.Run(name, func(t *testing.T) {
			m := startedMachine{root: t.TempDir(), files: map[string]string{"served": runnable, "console": ""}}
			m.script = startScript(t, load(t, machineadmOptions(t, "kubeadm-capd",
				"cluster.machineadm.source=https://example.org/m", "cluster.machineadm.sha256.amd64="+digestOf(runnable))))
			m.script = strings.Replace(m.script, "+ 90", "+ 0", 1)
			for path, content := range tc.files {
				m.files[path] = content
			}
			must(t, os.MkdirAll(filepath.Join(m.root, "opt/machineadm/bin"), 0o755))
			m.files["opt/machineadm/bin/machineadm"] = "earlier"
			code, out := m.run(t)
			line := "machineadm[v1]: failed: get machineadm: " + tc.want
			if code != 1 || !strings.Contains(out, line) || !strings.Contains(m.content(t, "console"), line) {
				t.Errorf("ended with %d: %s, console: %s", code, out, m.content(t, "console"))
			}
			var report machineadm.Report
			must(t, json.Unmarshal([]byte(m.content(t, "run/machineadm.json")), &report))
			if report.APIVersion != machineadm.APIVersion || report.Result != machineadm.Failed ||
				len(report.Steps) != 1 || !strings.HasPrefix(report.Steps[0].Error, tc.want) {
				t.Errorf("the report is %+v", report)
			}
			if all := out + m.content(t, "console") + m.content(t, "run/machineadm.json"); strings.Contains(all, "cret@h") ||
				strings.Contains(all, "u:se") {
				t.Errorf("a login is in %s", all)
			}
			const program = "opt/machineadm/bin/machineadm"
			if m.content(t, program) != "earlier" || m.content(t, program+".new") != "" {
				t.Error("the earlier program is gone, or the other one is there")
			}
		})
	}
	t.Run("does not run", func(t *testing.T) {
		const broken = "#!/nowhere\n"
		m := startedMachine{root: t.TempDir(), files: map[string]string{"served": broken, "console": ""}}
		m.script = startScript(t, load(t, machineadmOptions(t, "kubeadm-capd",
			"cluster.machineadm.source=https://example.org/m", "cluster.machineadm.sha256.amd64="+digestOf(broken))))
		if code, out := m.run(t); code != 1 || !strings.Contains(out, "https://example.org/m does not run on this machine") {
			t.Errorf("ended with %d: %s", code, out)
		}
	})
}

// The fetch trusts what the machine will trust: machineadm itself sets that up only later.
func TestMachineadmIsFetchedFromATrustedServer(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	ca := newAuthority(t, key, nil)["certificate"].(string)
	m := startedMachine{root: t.TempDir(), files: map[string]string{"served": runnable, "etc/cas": "system\n"}}
	m.script = startScript(t, load(t, machineadmOptions(t, "kubeadm-capd", "cluster.trusted_cas="+ca,
		"cluster.machineadm.source=https://example.org/m", "cluster.machineadm.sha256.amd64="+digestOf(runnable))))
	if code, out := m.run(t); code != 0 {
		t.Fatalf("ended with %d: %s", code, out)
	}
	if bundle := m.content(t, "opt/machineadm/cas.pem"); bundle != "system\n"+ca ||
		!strings.Contains(m.content(t, "environment"), "/opt/machineadm/cas.pem") {
		t.Errorf("curl trusts %q: %s", bundle, m.content(t, "environment"))
	}
}
