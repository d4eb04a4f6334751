package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	clusterConfig = "---\nkind: ClusterConfiguration\n"
	ignored       = "--ignore-preflight-errors=SystemVerification,Swap,FileContent--proc-sys-net-bridge-bridge-nf-call-iptables"
)

func TestKubeadmWrapper(t *testing.T) {
	tests := map[string]struct {
		args   string // CONFIG is the file's name
		config string // content before
		want   string // arguments of kubeadm
		added  bool   // kube-proxy's configuration was added to the file
	}{
		"init": {"init --config CONFIG --v=4", clusterConfig, "init " + ignored + " --config CONFIG --v=4",
			true},
		"init, joined": {"init --config=CONFIG", clusterConfig, "init " + ignored + " --config=CONFIG", true},
		"init, configured": {"init --config CONFIG", clusterConfig + "---\nkind: KubeProxyConfiguration\n",
			"init " + ignored + " --config CONFIG", false},
		"init, no file": {"init", clusterConfig, "init " + ignored, false},
		"one phase":     {"init phase certs all", clusterConfig, "init phase certs all", false},
		"join":          {"join --config CONFIG", clusterConfig, "join " + ignored + " --config CONFIG", false},
		"others":        {"version -o short", clusterConfig, "version -o short", false},
		"nothing":       {"", clusterConfig, "", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			wrapper, config := filepath.Join(dir, "wrapper"), filepath.Join(dir, "kubeadm.yaml")
			write(t, filepath.Join(dir, "kubeadm"), "#!/bin/sh\necho \"$@\"\n")
			write(t, wrapper, strings.ReplaceAll(string(kubeadmWrapper), "exec /usr/bin/kubeadm",
				"exec "+filepath.Join(dir, "kubeadm")))
			write(t, config, test.config)
			args := strings.Fields(strings.ReplaceAll(test.args, "CONFIG", config))
			out, err := exec.Command("sh", append([]string{wrapper}, args...)...).CombinedOutput()
			if got := strings.TrimSpace(strings.ReplaceAll(string(out), config, "CONFIG")); err != nil ||
				got != test.want {
				t.Errorf("kubeadm %s (%v), want %s", got, err, test.want)
			}
			content, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			if added := strings.HasSuffix(string(content), "conntrack:\n  maxPerCore: 0\n"); added != test.added ||
				!strings.HasPrefix(string(content), test.config) {
				t.Errorf("the configuration is now:\n%s", content)
			}
		})
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

// Unwanted takes all enabled units out of the root file system; those of cloud-init must come back.
func TestCloudInitIsEnabled(t *testing.T) {
	links := map[string]string{}
	for _, entry := range CloudInitFiles() {
		if entry.Link != "" {
			if !Unwanted(entry.Path) {
				t.Errorf("%s: nothing would have taken it out", entry.Path)
			}
			links[filepath.Base(entry.Path)] = entry.Link
		}
	}
	for _, unit := range []string{"cloud-init-local.service", "cloud-init.service", "cloud-config.service",
		"cloud-final.service"} {
		if links[unit] != "/usr/lib/systemd/system/"+unit {
			t.Errorf("%s is not enabled: %q", unit, links[unit])
		}
	}
}
