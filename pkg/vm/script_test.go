package vm_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/vm"
)

// image is a machine in a folder: its programs write down how they are called.
type image struct {
	t    *testing.T
	root string
}

// boot writes the files of user data into an image that has all programs.
func boot(t *testing.T, m vm.Machine, secrets bool) image {
	t.Helper()
	i := image{t, t.TempDir()}
	up := "#!/bin/sh\necho \"up $* token=${GITLAB_TOKEN-}\" >>" + i.root + "/calls\nexit $(cat " + i.root + "/up-exits)\n"
	sum := sha256.Sum256([]byte(up))
	if m.BinarySHA256 == "" {
		m.BinarySHA256 = hex.EncodeToString(sum[:])
	}
	for _, f := range filesOf(t, userData(t, m, secrets)) {
		i.write(f.Path, i.here(f.Content))
	}
	i.write("/served", up)
	i.write("/up-exits", "0")
	i.write("/sys/class/net/lo/mtu", "65536\n")
	i.write("/sys/class/net/eth0/mtu", "1442\n")
	for _, plugin := range []string{"host-local", "loopback", "ptp"} {
		i.program("/opt/cni/bin/"+plugin, "")
	}
	for name, does := range map[string]string{
		"curl": `while test "$1" != --output; do shift; done; cp ` + i.root + `/served "$2"`,
		"kubeadm": `cd ` + i.root + `
case $1 in
version) echo v1.36.4 ;;
init) mkdir -p etc/kubernetes && touch etc/kubernetes/admin.conf && test ! -e init-fails ;;
reset) rm -r etc/kubernetes var/lib/kubelet ;;
esac`,
		"kubelet": "", "containerd": "", "systemctl": "", "sysctl": "", "modprobe": "", "update-ca-certificates": "",
		"hostname": "echo '10.0.0.5 '",
	} {
		i.program("/bin/"+name, does)
	}
	return i
}

// here leads the paths of the machine into the folder.
func (i image) here(text string) string {
	return strings.NewReplacer(" /etc/", " "+i.root+"/etc/", "'/etc/", "'"+i.root+"/etc/", ">/etc/", ">"+i.root+"/etc/",
		"/opt/", i.root+"/opt/", "/sys/class", i.root+"/sys/class",
		"=/var/", "="+i.root+"/var/").Replace(text)
}

func (i image) write(path, content string) {
	i.t.Helper()
	path = filepath.Join(i.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		i.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		i.t.Fatal(err)
	}
}

func (i image) program(path, does string) {
	i.t.Helper()
	i.write(path, "#!/bin/sh\necho \""+filepath.Base(path)+" $*\" >>"+i.root+"/calls\n"+does+"\n")
	if err := os.Chmod(filepath.Join(i.root, path), 0o755); err != nil {
		i.t.Fatal(err)
	}
}

func (i image) read(path string) string {
	i.t.Helper()
	content, err := os.ReadFile(filepath.Join(i.root, path))
	if err != nil {
		i.t.Error(err)
	}
	return string(content)
}

func (i image) command(output *bytes.Buffer) *exec.Cmd {
	c := exec.Command("sh", filepath.Join(i.root, "/etc/cluster-init/bootstrap.sh"))
	c.Env = []string{"PATH=" + filepath.Join(i.root, "bin") + ":/usr/bin:/bin"}
	c.Stdout, c.Stderr = output, output
	return c
}

// run runs the script, and returns what it called and its output.
func (i image) run(fails bool) (calls, output string) {
	i.t.Helper()
	i.write("/calls", "")
	var out bytes.Buffer
	if err := i.command(&out).Run(); (err != nil) != fails {
		i.t.Fatalf("%v: %s", err, out.String())
	}
	return i.read("/calls"), out.String()
}

func unpinned() vm.Machine {
	m := demo()
	m.BinarySHA256, m.PowerOff = "", true
	return m
}

func inOrder(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		_, after, found := strings.Cut(text, want)
		if !found {
			t.Fatalf("no %q, in this order, in:\n%s", want, text)
		}
		text = after
	}
}

func TestScriptBuilds(t *testing.T) {
	i := boot(t, unpinned(), true)
	calls, output := i.run(false)
	inOrder(t, calls, "curl ", "update-ca-certificates", "systemctl daemon-reload", "systemctl restart containerd",
		"sysctl -q -w net.ipv4.ip_forward=1", "kubeadm init --config", "--skip-token-print", "up up ",
		"/etc/cluster-init/environments/demo --bootstrap-kubeconfig", "--output plain --source git token=glpat-x",
		"systemctl poweroff")
	if strings.Contains(calls, "kubeadm reset") || strings.Contains(output, "glpat-x") {
		t.Errorf("calls:\n%s\noutput:\n%s", calls, output)
	}
	if config := i.read("/opt/cluster-init/kubeadm.yaml"); !strings.HasSuffix(config, "\nkubernetesVersion: v1.36.4\n") {
		t.Errorf("kubeadm's configuration:\n%s", config)
	}
	if network := i.read("/etc/cni/net.d/10-cluster-init.conflist"); !strings.Contains(network, `"mtu": 1442`) {
		t.Errorf("the pod network:\n%s", network)
	}
}

// A machine that was restarted resumes where it was.
func TestScriptResumes(t *testing.T) {
	i := boot(t, unpinned(), true)
	i.write("/init-fails", "")
	i.write("/var/lib/kubelet/config.json", "login")
	if calls, _ := i.run(true); strings.Contains(calls, "up up") {
		t.Errorf("up ran without a cluster:\n%s", calls)
	}
	if err := os.Remove(filepath.Join(i.root, "init-fails")); err != nil {
		t.Fatal(err)
	}
	i.write("/up-exits", "51")
	calls, _ := i.run(true)
	inOrder(t, calls, "kubeadm reset --force", "kubeadm init", "up up")
	if strings.Contains(calls, "curl") || strings.Contains(calls, "poweroff") {
		t.Errorf("downloaded again, or powered off after a failure:\n%s", calls)
	}
	if i.read("/var/lib/kubelet/config.json") != "login" {
		t.Error("the login for registries is gone")
	}
	i.write("/up-exits", "0")
	calls, _ = i.run(false)
	inOrder(t, calls, "up up", "poweroff")
	if strings.Contains(calls, "kubeadm") {
		t.Errorf("the cluster was made again:\n%s", calls)
	}
}

// The binary may be in an archive, as releases are.
func TestScriptUnpacksAnArchive(t *testing.T) {
	i := boot(t, unpinned(), true)
	i.write("/packed/cluster-init_1/cluster-init", i.read("/served"))
	if out, err := exec.Command("tar", "-czf", i.root+"/served", "-C", i.root+"/packed", "cluster-init_1").
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sum := sha256.Sum256([]byte(i.read("/served")))
	m := unpinned()
	m.BinaryURL, m.BinarySHA256 = "https://files.example/cluster-init.tar.gz?x=y", hex.EncodeToString(sum[:])
	for _, f := range filesOf(t, userData(t, m, true)) {
		i.write(f.Path, i.here(f.Content))
	}
	calls, _ := i.run(false)
	inOrder(t, calls, "curl ", "cluster-init.tar.gz?x=y", "up up ")
}

func TestScriptRefusesAnotherBinary(t *testing.T) {
	i := boot(t, demo(), true)
	calls, output := i.run(true)
	inOrder(t, output, "does not have the SHA-256 digest")
	if strings.Contains(calls, "up up") {
		t.Errorf("it ran:\n%s", calls)
	}
}

func TestScriptNamesWhatTheImageLacks(t *testing.T) {
	i := boot(t, unpinned(), true)
	if err := os.Remove(filepath.Join(i.root, "opt/cni/bin/ptp")); err != nil {
		t.Fatal(err)
	}
	_, output := i.run(true)
	inOrder(t, output, "this image has no ", "/opt/cni/bin/ptp")
}

// The machine does nothing before all secrets are there, which may come at any time.
func TestScriptWaitsForSecrets(t *testing.T) {
	m := unpinned()
	i := boot(t, m, false)
	var out bytes.Buffer
	c := i.command(&out)
	said, err := os.Create(filepath.Join(i.root, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c.Stdout = said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); !strings.Contains(i.read("/said"), "waiting for the secrets"); {
		if time.Since(began) > time.Minute {
			t.Fatal("it does not wait")
		}
	}
	if _, err := os.Stat(filepath.Join(i.root, "calls")); err == nil {
		t.Errorf("it called %s", i.read("/calls"))
	}
	var packed bytes.Buffer
	if err := m.WriteSecrets(&packed); err != nil {
		t.Fatal(err)
	}
	unpack := exec.Command("tar", "-xzf", "-", "-C", i.root)
	unpack.Stdin = &packed
	if text, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	inOrder(t, i.read("/calls"), "kubeadm init", "token=glpat-x", "systemctl poweroff")
}
