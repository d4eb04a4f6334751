//go:build e2e

package e2e

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// keepsContract holds the contract for images against the lab's image of machines, which the engine has after `up`, and
// against one that was made poor.
func (l lab) keepsContract(t *testing.T, p program) {
	t.Helper()
	folder := t.TempDir()
	p.copyTo(t, filepath.Join(folder, "machineadm"))
	ca, _ := signedFor(t, net.IPv4(127, 0, 0, 1))
	config, err := json.Marshal(machineadm.Config{APIVersion: machineadm.APIVersion, Kind: machineadm.ConfigKind,
		KernelModules: []string{"e2e_none"}, CertificateAuthorities: string(ca),
		Proxy: &machineadm.Proxy{HTTP: "http://proxy:3128"}, Containerd: &machineadm.Containerd{CgroupDriver: "systemd",
			RegistryMirrors: []machineadm.RegistryMirror{{Host: "docker.io", URL: "http://mirror:5000"}}}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "machine.yaml"), config, 0o644))
	contract, err := os.ReadFile("../docs/reference/machineadm.md")
	must(t, err)
	always := strings.Fields("uname mkdir cat cp mv rm chmod cut sed sleep tee timeout tr tail date sha256sum curl")
	for _, name := range always {
		if !strings.Contains(string(contract), "`"+name+"`") {
			t.Errorf("the contract does not name %s", name)
		}
	}
	inImage := func(script string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "docker", "run", "--rm", "--network=none", "--volume", folder+":/e2e:ro",
			"--entrypoint=/bin/sh", l.nodeImage(t, "kindest/node:"), "-c", script).CombinedOutput()
		return string(out), err
	}
	const check = "/e2e/machineadm check --image /e2e/machine.yaml"
	if out, err := inImage("for c in " + strings.Join(always, " ") + "; do command -v $c >/dev/null || echo $c; done; " +
		"mkdir -p /opt/machineadm/bin && test -w /usr/local/sbin && " + check); err != nil || out != "" {
		t.Errorf("the lab's image: %v: %s", err, out)
	}
	out, err := inImage("rm /usr/sbin/modprobe /usr/bin/systemctl /bin/systemctl /usr/sbin/update-ca-certificates " +
		"2>/dev/null; echo 'version = 2' >/etc/containerd/config.toml; " + check)
	for _, want := range []string{"modprobe (for kernel modules)", "update-ca-certificates (for certificate authorities)",
		"systemctl (to start services)", "config_path = "} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("the poor image: %v: %s, want %s", err, out, want)
		}
	}
}

// nodeImage returns the name of the machines' image.
func (l lab) nodeImage(t *testing.T, prefix string) string {
	t.Helper()
	for _, reference := range l.openBundle(t).References(bundle.LoadDocker) {
		if strings.HasPrefix(reference, prefix) {
			return reference
		}
	}
	t.Fatal("the bundle has no image of machines")
	return ""
}
