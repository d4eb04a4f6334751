package machineadm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// machine is a folder that stands for a machine, with programs that do nothing.
type machine struct {
	machineadm.Machine
	root   string
	ran    *[]string     // the commands of the operating system
	errors *bytes.Buffer // standard error
}

// newMachine returns a machine that has all that its configuration needs.
func newMachine(t *testing.T, config string) machine {
	t.Helper()
	root := t.TempDir()
	m := machine{root: root, ran: &[]string{}, errors: &bytes.Buffer{}}
	for path, content := range map[string]string{
		"etc/machineadm/machine.yaml": config, "proc/sys/net/core/somaxconn": "128", "dev/console": "",
		"proc/sys/net/ipv4/conf/eth0.1/forwarding": "0",
		"etc/containerd/config.toml": "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\n" +
			"config_path = '/etc/containerd/certs.d'\n",
		"usr/local/share/ca-certificates/README": "", "sys/module/br_netfilter/version": "",
	} {
		m.put(t, path, content, 0o644)
	}
	for _, program := range []string{"kubeadm", "modprobe", "systemctl", "update-ca-certificates"} {
		m.put(t, "bin/"+program, "#!/bin/sh\n", 0o755)
	}
	m.Machine = machineadm.Machine{
		Host: machineadm.Host{Root: root, Path: "/sbin:/bin", Run: func(_ context.Context, name string, args ...string) (
			string, error) {
			command := strings.Join(append([]string{strings.TrimPrefix(name, root)}, args...), " ")
			*m.ran = append(*m.ran, command)
			return map[string]string{"/bin/kubeadm version --output=short": "v1.36.4+distribution\n"}[command], nil
		}},
		Lines:      machineadm.Lines{Errors: m.errors, Console: filepath.Join(root, "dev/console")},
		ConfigPath: machineadm.ConfigPath,
		Now:        func() time.Time { return time.Unix(1000, 0) },
		Exec: func(_ string, args []string) error {
			return errors.New("became " + strings.Join(args, " "))
		},
	}
	return m
}

func (m machine) put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	place := filepath.Join(m.root, path)
	err := errors.Join(os.MkdirAll(filepath.Dir(place), 0o755), os.WriteFile(place, []byte(content), mode))
	if err != nil {
		t.Fatal(err)
	}
}

// content returns a file of the machine; "" if it has none.
func (m machine) content(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(m.root, path))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(content)
}

// report returns the report of the machine.
func (m machine) report(t *testing.T) machineadm.Report {
	t.Helper()
	var report machineadm.Report
	if err := json.Unmarshal([]byte(m.content(t, machineadm.ReportPath)), &report); err != nil {
		t.Fatal(err)
	}
	return report
}

const header = "apiVersion: machineadm.cluster-init.io/v1alpha1\nkind: MachineConfig\n"

const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: agent}\nspec: {containers: [{name: a, image: a}]}"

// everything is a configuration with each of its fields.
func everything(t *testing.T) string {
	t.Helper()
	config := map[string]any{"apiVersion": machineadm.APIVersion, "kind": machineadm.ConfigKind,
		"kernelModules":          []string{"sctp", "br_netfilter"},
		"sysctls":                map[string]string{"net.core.somaxconn": "4096", "net.ipv4.conf.eth0/1.forwarding": "1"},
		"certificateAuthorities": certificate(t),
		"proxy": map[string]any{"http": "http://u:50%25@proxy:3128", "https": "http://proxy:3128",
			"noProxy": "localhost,.svc"},
		"containerd": map[string]any{"cgroupDriver": "systemd", "registryMirrors": []any{
			map[string]any{"host": "docker.io", "url": "https://mirror:5000", "ca": certificate(t), "overridePath": true},
			map[string]any{"host": "_default", "url": "http://mirror:5001", "only": true, "skipVerify": true}}},
		"kubernetes": map[string]any{"version": "v1.36.4"},
		"files": []any{map[string]any{"path": "/etc/kubernetes/cluster-init/audit.json", "content": "{}"},
			map[string]any{"path": "/etc/motd", "content": "hello\n", "mode": "0644"}},
		"staticPods": []any{map[string]any{"name": "agent", "content": pod}},
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPrepare(t *testing.T) {
	m := newMachine(t, everything(t))
	if _, err := m.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"etc/modules-load.d/90-cluster-init.conf":  "sctp\nbr_netfilter\n",
		"etc/sysctl.d/90-cluster-init.conf":        "net.core.somaxconn = 4096\nnet.ipv4.conf.eth0/1.forwarding = 1\n",
		"proc/sys/net/core/somaxconn":              "4096",
		"proc/sys/net/ipv4/conf/eth0.1/forwarding": "1",
		"etc/systemd/system/kubelet.service.d/http-proxy.conf": "[Service]\n" +
			"Environment=\"HTTP_PROXY=http://u:50%%25@proxy:3128\"\nEnvironment=\"HTTPS_PROXY=http://proxy:3128\"\n" +
			"Environment=\"NO_PROXY=localhost,.svc\"\n",
		"etc/containerd/certs.d/docker.io/hosts.toml": "[host.\"https://mirror:5000\"]\n" +
			"  capabilities = [\"pull\", \"resolve\"]\n  override_path = true\n" +
			"  ca = \"/etc/containerd/certs.d/docker.io/ca.pem\"\n",
		"etc/containerd/certs.d/_default/hosts.toml": "server = \"http://mirror:5001\"\n" +
			"  capabilities = [\"pull\", \"resolve\"]\n  skip_verify = true\n",
		"etc/kubernetes/cluster-init/audit.json": "{}",
		"etc/kubernetes/manifests/agent.yaml":    pod,
	} {
		if got := m.content(t, path); got != want {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
	}
	if trusted := m.content(t, "usr/local/share/ca-certificates/cluster-init.crt"); !strings.Contains(trusted, "BEGIN") {
		t.Errorf("no certificates: %q", trusted)
	}
	want := []string{"modprobe sctp", "update-ca-certificates", "systemctl daemon-reload", "systemctl restart containerd",
		"/bin/kubeadm version --output=short"}
	if !slices.Equal(*m.ran, want) {
		t.Errorf("ran %q, want %q", *m.ran, want)
	}
	if report := m.report(t); report.Result != machineadm.Prepared || slices.ContainsFunc(report.Steps,
		func(s machineadm.StepReport) bool { return s.Result != machineadm.Succeeded || s.Error != "" }) {
		t.Errorf("%+v", report)
	}
	for path, mode := range map[string]os.FileMode{"etc/motd": 0o644, "etc/kubernetes/cluster-init/audit.json": 0o600,
		"etc/systemd/system/containerd.service.d/http-proxy.conf": 0o600} {
		if info, err := os.Stat(filepath.Join(m.root, path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	before := m.content(t, machineadm.ReportPath)
	if _, err := m.Prepare(t.Context()); err != nil || m.content(t, machineadm.ReportPath) != before {
		t.Errorf("a second time: %v, %s", err, m.content(t, machineadm.ReportPath))
	}
}

// The first step that fails ends the preparation. It is named in the report and on the console; later steps do not run.
func TestPrepareFails(t *testing.T) {
	for name, tc := range map[string]struct {
		config, fails, want string // fails is a command that fails
	}{
		"no parameter": {header + "sysctls: {net.core.nope: '1'}", "",
			"set kernel parameter net.core.nope: the kernel does not have it"},
		"no module": {header + "kernelModules: [nope]", "modprobe",
			"load kernel module nope: run modprobe: exit 1: FATAL: no"},
		"no configuration": {"", "", `read the configuration: `},
		"another version": {"apiVersion: machineadm.cluster-init.io/v9\nkind: MachineConfig", "",
			"want machineadm.cluster-init.io/v1alpha1"},
		"unknown field": {header + "sysctl: {}", "", `unknown field "sysctl"`},
		"containerd":    {header + "proxy: {http: 'http://p'}", "systemctl", "restart containerd: run systemctl: exit 1"},
		"another version of kubeadm": {header + "kubernetes: {version: v1.35.1}", "",
			"compare the version of kubeadm: the image has v1.36.4, want v1.35.1"},
		"a file in the way": {header + "files: [{path: /etc/motd/a, content: b}]", "", "write /etc/motd/a: "},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, tc.config+"\nstaticPods: [{name: agent, content: "+quoted(t, pod)+"}]\n")
			m.put(t, "etc/motd", "", 0o644)
			m.Host.Run = func(_ context.Context, name string, _ ...string) (string, error) {
				if name == tc.fails {
					return "noise\nFATAL: no\n", errors.New("exit 1")
				}
				return "v1.36.4\n", nil
			}
			report, err := m.Prepare(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			last := report.Steps[len(report.Steps)-1]
			if report.Result != machineadm.Failed || last.Result != machineadm.Failed || last.Error == "" {
				t.Errorf("%+v", report)
			}
			if written := m.report(t); written.Result != machineadm.Failed || len(written.Steps) != len(report.Steps) {
				t.Errorf("the file has %+v", written)
			}
			if line := m.content(t, "dev/console"); !strings.HasPrefix(line, "machineadm[v1]: failed: ") ||
				!strings.Contains(line, tc.want) || strings.Count(line, "\n") != 1 || line != m.errors.String() {
				t.Errorf("the console has %q, standard error %q", line, m.errors)
			}
			if m.content(t, "etc/kubernetes/manifests/agent.yaml") != "" {
				t.Error("a static Pod was written")
			}
		})
	}
}

func quoted(t *testing.T, text string) string {
	t.Helper()
	out, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// One process at a time prepares a machine. The second one leaves the report alone.
func TestTwoPrepareAtOnce(t *testing.T) {
	m := newMachine(t, header+"kernelModules: [sctp]")
	var second error
	m.Host.Run = func(context.Context, string, ...string) (string, error) {
		_, second = m.Prepare(t.Context())
		return "", nil
	}
	if _, err := m.Prepare(t.Context()); err != nil || second == nil ||
		!strings.Contains(second.Error(), "another machineadm prepares this machine") {
		t.Errorf("%v, %v", err, second)
	}
	if report := m.report(t); report.Result != machineadm.Prepared {
		t.Errorf("%+v", report)
	}
}
