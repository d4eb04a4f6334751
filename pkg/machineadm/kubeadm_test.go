package machineadm_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// withKubeadm puts a kubeadm on the machine, behind a shim that is found first. It writes its arguments to a file.
func withKubeadm(t *testing.T, config, script string) (m machine, shim string) {
	t.Helper()
	m = newMachine(t, config)
	m.put(t, "sbin/kubeadm", "#!/bin/sh\nexit 99\n", 0o755)
	m.put(t, "bin/kubeadm", fmt.Sprintf("#!/bin/sh\nfor a; do echo \"$a\" >>%s/ran; done\n%s", m.root, script), 0o755)
	return m, filepath.Join(m.root, "sbin/kubeadm")
}

func (m machine) kubeadm(t *testing.T, shim string, args ...string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = m.Kubeadm(t.Context(), shim, args, machineadm.Streams{In: strings.NewReader(""), Out: &stdout, Err: &stderr})
	return code, stdout.String() + stderr.String()
}

// kubeadm gets its arguments, and its output and exit code are its own. What failed is reported.
func TestKubeadm(t *testing.T) {
	const refused = `echo '[init] Using Kubernetes version: v1.36.4'
cat >&2 <<'END'
error execution phase preflight: [preflight] Some fatal errors occurred:
	[ERROR Port-6443]: Port 6443 is in use
	[ERROR FileAvailable--etc-kubernetes-manifests-etcd.yaml]: /etc/kubernetes/manifests/etcd.yaml already exists
[preflight] If you know what you are doing, you can make a check non-fatal
END
exit 7`
	for name, tc := range map[string]struct {
		script, phase, line string
		code                int
		errors              []string
	}{
		"succeeds": {"exit 0", "", "succeeded: kubeadm init in 0 s", 0, nil},
		"refuses": {refused, "preflight", "failed: kubeadm init, phase preflight: [ERROR Port-6443]: Port 6443 is in use; " +
			"[ERROR FileAvailable", 7, []string{"[ERROR Port-6443]: Port 6443 is in use",
			"[ERROR FileAvailable--etc-kubernetes-manifests-etcd.yaml]: /etc/kubernetes/manifests/etcd.yaml already exists"}},
		"a phase": {"echo 'error execution phase kubelet-start: timed out' >&2; exit 1", "kubelet-start",
			"failed: kubeadm init, phase kubelet-start: timed out", 1, []string{"timed out"}},
		"says nothing": {"exit 3", "", "failed: kubeadm init: exit code 3", 3, []string{"exit code 3"}},
		"is killed":    {"kill -9 $$", "", "failed: kubeadm init: ", 137, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, shim := withKubeadm(t, header, tc.script)
			code, out := m.kubeadm(t, shim, "init", "--config", "/run/x y", "")
			if ran := m.content(t, "ran"); code != tc.code || ran != "init\n--config\n/run/x y\n\n" {
				t.Errorf("ended with %d after %q", code, ran)
			}
			report := m.report(t)
			if k := report.Kubeadm; k == nil || k.ExitCode != tc.code || k.Phase != tc.phase ||
				(report.Result == machineadm.Succeeded) != (code == 0) ||
				tc.errors != nil && !slices.Equal(k.Errors, tc.errors) {
				t.Errorf("%+v %+v", report, report.Kubeadm)
			}
			if console := m.content(t, "dev/console"); !strings.Contains(console, "machineadm[v1]: "+tc.line) {
				t.Errorf("the console has %q", console)
			}
			if strings.Contains(tc.script, "echo") != (out != "") {
				t.Errorf("the output is %q", out)
			}
		})
	}
}

// A machine that is not prepared runs no kubeadm, however often one tries. One that is prepared is not prepared again.
func TestKubeadmNeedsAPreparedMachine(t *testing.T) {
	const bad = header + "sysctls: {net.nope: '1'}"
	m, shim := withKubeadm(t, bad, "")
	for range 2 {
		if code, _ := m.kubeadm(t, shim, "join"); code != 1 || m.content(t, "ran") != "" {
			t.Errorf("ended with %d after %q", code, m.content(t, "ran"))
		}
	}
	if console := m.content(t, "dev/console"); strings.Count(console, "failed: set kernel parameter net.nope: ") != 2 {
		t.Errorf("the console has %q", console)
	}
	m, shim = withKubeadm(t, header, "")
	if _, err := m.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.put(t, machineadm.ConfigPath, bad, 0o600)
	if code, _ := m.kubeadm(t, shim, "join"); code != 0 || m.content(t, "ran") != "join\n" {
		t.Errorf("ended with %d after %q", code, m.content(t, "ran"))
	}
	for name, report := range map[string]string{"not JSON": "{",
		"no steps":        `{"apiVersion":"` + machineadm.APIVersion + `"}`,
		"another version": `{"apiVersion":"v9","steps":[{"result":"succeeded"}]}`,
		"killed":          `{"apiVersion":"` + machineadm.APIVersion + `","steps":[{"result":"running"}]}`} {
		m, shim = withKubeadm(t, bad, "")
		m.put(t, machineadm.ReportPath, report, 0o644)
		if code, _ := m.kubeadm(t, shim, "init"); code != 1 || m.content(t, "ran") != "" {
			t.Errorf("%s: ended with %d after %q", name, code, m.content(t, "ran"))
		}
	}
}

// Commands that make no node are kubeadm's alone, and so are all commands on a machine that is a node: nothing is
// prepared or reported, also after a reboot.
func TestOtherCommandsOfKubeadm(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"reset", "--force"}, {"init", "phase", "certs"}, {}, {"join", "-h"},
		{"init", "--dry-run"}, {"upgrade", "apply"}, {"help", "join"}} {
		m, shim := withKubeadm(t, "nothing", "")
		code, out := m.kubeadm(t, shim, args...)
		if want := "became " + strings.Join(append([]string{"kubeadm"}, args...), " "); code != 1 ||
			!strings.Contains(out, want) || m.content(t, machineadm.ReportPath) != "" {
			t.Errorf("%q ended with %d: %s", args, code, out)
		}
	}
	for _, args := range [][]string{{"join", "--config", "/run/kubeadm/kubeadm-join-config.yaml"}, {"-v5", "init"}} {
		m, shim := withKubeadm(t, "nothing", "")
		if code, out := m.kubeadm(t, shim, args...); code != 1 || strings.Contains(out, "became") {
			t.Errorf("%q ended with %d: %s", args, code, out)
		}
		m.put(t, "etc/kubernetes/kubelet.conf", "", 0o600)
		before := m.content(t, machineadm.ReportPath)
		if _, out := m.kubeadm(t, shim, args...); !strings.Contains(out, "became kubeadm") ||
			m.content(t, machineadm.ReportPath) != before || len(*m.ran) > 0 {
			t.Errorf("%q on a node: %s", args, out)
		}
	}
}

// machineadm also reports a second attempt after kubeadm failed. It prepares nothing on a node.
func TestKubeadmAfterAFailure(t *testing.T) {
	m, shim := withKubeadm(t, header, "touch $(dirname $0)/../etc/kubernetes/kubelet.conf; exit $(cat $(dirname $0)/code)")
	m.put(t, "etc/kubernetes/x", "", 0o600)
	m.put(t, "bin/code", "1", 0o644)
	if code, _ := m.kubeadm(t, shim, "init"); code != 1 || m.report(t).Result != machineadm.Failed {
		t.Errorf("ended with %d: %+v", code, m.report(t))
	}
	m.put(t, "bin/code", "0", 0o644)
	if code, _ := m.kubeadm(t, shim, "init"); code != 0 || m.report(t).Result != machineadm.Succeeded {
		t.Errorf("ended with %d: %+v", code, m.report(t))
	}
	before := m.content(t, machineadm.ReportPath)
	if _, err := m.Prepare(t.Context()); err != nil || m.content(t, machineadm.ReportPath) != before ||
		!strings.Contains(m.errors.String(), "nothing to prepare") {
		t.Errorf("%v, %s", err, m.errors)
	}
}

// A machine without kubeadm says so. By hand, without the shim, the real one is found.
func TestWhichKubeadm(t *testing.T) {
	m, shim := withKubeadm(t, header, "")
	if err := os.Remove(filepath.Join(m.root, "bin/kubeadm")); err != nil {
		t.Fatal(err)
	}
	if code, _ := m.kubeadm(t, shim, "init"); code != 1 || !strings.Contains(m.content(t, "dev/console"),
		"failed: kubeadm init: the machine has no kubeadm") {
		t.Errorf("ended with %d: %s", code, m.content(t, "dev/console"))
	}
	m, _ = withKubeadm(t, header, "")
	if err := os.Rename(filepath.Join(m.root, "sbin"), filepath.Join(m.root, "s")); err != nil {
		t.Fatal(err)
	}
	m.put(t, "usr/local/sbin/kubeadm", "#!/bin/sh\nexit 99\n", 0o755)
	m.Host.Path = "/usr/local/sbin:/bin"
	if code, _ := m.kubeadm(t, "", "init"); code != 0 || m.content(t, "ran") != "init\n" {
		t.Errorf("ended with %d", code)
	}
}

// No report, console or journal has a secret, whatever kubeadm says.
func TestReportsHaveNoSecrets(t *testing.T) {
	var seeds []string
	seed := func(format string) string {
		s := fmt.Sprintf(format, len(seeds)+10)
		seeds = append(seeds, s)
		return s
	}
	config := header + "proxy: {http: 'http://user:" + seed("pa@ss%dword") + "@proxy:3128'}\nfiles:\n"
	for i := range 10 {
		config += fmt.Sprintf("- {path: /etc/f%d, content: %q}\n", i, "user=a\npassword="+seed("Pa55w0rd%dx")+"\n"+
			seed("a whole line %d of a file"))
	}
	config += "staticPods:\n- name: agent\n  content: |\n    apiVersion: v1\n    kind: Pod\n    metadata: {name: a}\n" +
		"    spec:\n      containers:\n      - name: a\n        image: a\n        env:\n"
	for range 10 {
		config += "        - {name: TOKEN, value: " + seed("tok%dabcdef") + "}\n"
	}
	var kubeadm strings.Builder
	for range 8 {
		fmt.Fprintf(&kubeadm, "token: %s\ncertificateKey: %s\ncaCertHashes: [%s]\n---\n", seed("abcd%d.0123456789abcdef"),
			seed("%d"+strings.Repeat("ab", 31)), seed("sha256:%d"+strings.Repeat("cd", 31)))
	}
	if len(seeds) < 50 {
		t.Fatalf("%d seeds", len(seeds))
	}
	var script strings.Builder
	for i, s := range seeds {
		fmt.Fprintf(&script, "echo \"[ERROR Say%d]: it is '%s' here\" >&2\n", i%9, s)
	}
	for i := 0; i < len(seeds); i += 9 { // a report has ten errors
		m, shim := withKubeadm(t, config, "sed -n '1,2p;"+fmt.Sprintf("%d,%dp' <<'END' | sh\n", i+1, i+9)+script.String()+
			"END\nexit 1")
		m.put(t, "run/kubeadm.yaml", kubeadm.String(), 0o600)
		if code, out := m.kubeadm(t, shim, "init", "--config="+filepath.Join(m.root, "run/kubeadm.yaml")); code != 1 ||
			!strings.Contains(out, seeds[i]) {
			t.Fatalf("ended with %d: %s", code, out)
		}
		said := m.content(t, machineadm.ReportPath) + m.content(t, "dev/console") + m.errors.String()
		for _, s := range seeds {
			if strings.Contains(said, s) {
				t.Errorf("%q is in %s", s, said)
			}
		}
		if !strings.Contains(said, "[hidden]") {
			t.Errorf("no seed was reported: %s", said)
		}
	}
}
