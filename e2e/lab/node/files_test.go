package node

import (
	"encoding/json"
	"strings"
	"testing"
)

const kindConfig = `version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"
  restrict_oom_score_adj = false
`

func TestContainerdConfig(t *testing.T) {
	got, err := containerdConfig([]byte(kindConfig), "registry.k8s.io/pause:3.10.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`sandbox_image = "registry.k8s.io/pause:3.10.2"`, "restrict_oom_score_adj = true",
		"[plugins.\"io.containerd.grpc.v1.cri\".registry]\n  config_path = \"/etc/containerd/certs.d\"",
		"[plugins.\"io.containerd.cri.v1.runtime\"]\n  stats_collect_period = \"30s\"",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, changed := range []string{"", strings.ReplaceAll(kindConfig, "sandbox_image", "pause_image"),
		kindConfig + `config_path = ""`} {
		if _, err := containerdConfig([]byte(changed), "p"); err == nil {
			t.Errorf("no error for a changed configuration:\n%s", changed)
		}
	}
}

func TestRuntimeSpec(t *testing.T) {
	got,
		err := runtimeSpec(
		[]byte(
			`{"process":{"rlimits":[{"type":"RLIMIT_NOFILE"}],"cwd":"/"},"hooks":{"createContainer":[{"path":"/first"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Process map[string]any
		Hooks   struct{ CreateContainer []struct{ Path string } }
	}
	if err := json.Unmarshal(got, &spec); err != nil {
		t.Fatal(err)
	}
	if _, found := spec.Process["rlimits"]; found || spec.Process["cwd"] != "/" {
		t.Errorf("process: %v", spec.Process)
	}
	if len(spec.Hooks.CreateContainer) != 2 ||
		spec.Hooks.CreateContainer[1].Path != "/kind/bin/mount-product-files.sh" {
		t.Errorf("hooks: %+v", spec.Hooks)
	}
}

func TestUnwanted(t *testing.T) {
	for name, want := range map[string]bool{
		"usr/lib/systemd/system/multi-user.target.wants/getty.target":          true,
		"usr/lib/systemd/system/sockets.target.wants/systemd-udevd.socket":     true,
		"usr/lib/systemd/system/sockets.target.wants/dbus.socket":              false,
		"usr/lib/systemd/system/multi-user.target.wants":                       false,
		"etc/systemd/system/timers.target.wants/apt-daily.timer":               true,
		"usr/lib/systemd/system/sysinit.target.wants/systemd-sysusers.service": false,
	} {
		if got := Unwanted(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
