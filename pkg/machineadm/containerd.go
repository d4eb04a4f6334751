package machineadm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const (
	driverSystemd    = "systemd"
	containerdConfig = "/etc/containerd/config.toml"
	registryFolder   = "/etc/containerd/certs.d"
)

// containerdSteps configure containerd, and the kubelet's proxy. containerd reads mirrors at each pull, and the rest
// when it starts.
func (h Host) containerdSteps(c Config) []step {
	var list []step
	if c.Proxy != nil {
		for _, unit := range []string{"containerd", "kubelet"} {
			path := "/etc/systemd/system/" + unit + ".service.d/http-proxy.conf"
			list = append(list, step{name: "write " + path, run: func(context.Context) error {
				return h.write(path, c.Proxy.dropIn(), 0o600)
			}})
		}
	}
	if c.Containerd != nil {
		for _, mirror := range c.Containerd.RegistryMirrors {
			list = append(list, step{name: "write the registry mirror of " + mirror.Host,
				run: func(context.Context) error { return h.writeMirror(mirror) }})
		}
		if c.Containerd.CgroupDriver != "" {
			list = append(list, step{name: "set the cgroup driver of containerd", run: func(context.Context) error {
				return h.useSystemdCgroups()
			}})
		}
	}
	if c.restartsContainerd() {
		list = append(list, step{name: "restart containerd", run: func(ctx context.Context) error {
			if err := h.run(ctx, "systemctl", "daemon-reload"); err != nil {
				return err
			}
			return h.run(ctx, "systemctl", "restart", "containerd")
		}})
	}
	return list
}

// restartsContainerd reports whether the Config has what containerd reads only when it starts.
func (c Config) restartsContainerd() bool {
	return c.Proxy != nil || c.Containerd != nil && (c.CertificateAuthorities != "" || c.Containerd.CgroupDriver != "")
}

// dropIn returns the proxies as a part of a systemd unit.
func (p Proxy) dropIn() string {
	text := "[Service]\n"
	for _, v := range []struct{ name, value string }{
		{"HTTP_PROXY", p.HTTP}, {"HTTPS_PROXY", p.HTTPS}, {"NO_PROXY", p.NoProxy},
	} {
		if v.value != "" {
			text += fmt.Sprintf("Environment=\"%s=%s\"\n", v.name, strings.ReplaceAll(v.value, "%", "%%"))
		}
	}
	return text
}

// writeMirror writes a mirror in the form of containerd's hosts.toml.
func (h Host) writeMirror(m RegistryMirror) error {
	folder := registryFolder + "/" + m.Host
	// containerd falls back to the server, which is the original registry unless another one is named.
	first := "[host.%q]"
	if m.Only {
		first = "server = %q"
	}
	lines := []string{fmt.Sprintf(first, m.URL), `  capabilities = ["pull", "resolve"]`}
	if m.OverridePath {
		lines = append(lines, "  override_path = true")
	}
	if m.SkipVerify {
		lines = append(lines, "  skip_verify = true")
	}
	if m.CA != "" {
		lines = append(lines, fmt.Sprintf("  ca = %q", folder+"/ca.pem"))
		if err := h.write(folder+"/ca.pem", m.CA, 0o644); err != nil {
			return err
		}
	}
	return h.write(folder+"/hosts.toml", strings.Join(lines, "\n")+"\n", 0o644)
}

// runtimePlugins are the names of containerd's plugin for pods, by the version of its configuration.
var runtimePlugins = map[int64]string{
	2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.runtime", 4: "io.containerd.cri.v1.runtime"}

// containerdSettings returns containerd's configuration, and the name of its plugin for pods.
func (h Host) containerdSettings() (config map[string]any, plugin string, err error) {
	content, err := os.ReadFile(h.at(containerdConfig))
	if err != nil {
		return nil, "", err
	}
	if err := toml.Unmarshal(content, &config); err != nil {
		return nil, "", errors.New(containerdConfig + " is not TOML")
	}
	version, _ := config["version"].(int64)
	plugin, known := runtimePlugins[version]
	if !known {
		return nil, "", fmt.Errorf("%s has version %d, want 2, 3 or 4", containerdConfig, version)
	}
	return config, plugin, nil
}

// useSystemdCgroups changes the runtime runc in containerd's configuration: kubeadm gives kubelet the driver systemd.
func (h Host) useSystemdCgroups() error {
	config, plugin, err := h.containerdSettings()
	if err != nil {
		return err
	}
	table := config
	for _, name := range []string{"plugins", plugin, "containerd", "runtimes", "runc", "options"} {
		next, isTable := table[name].(map[string]any)
		if !isTable {
			if table[name] != nil {
				return fmt.Errorf("%s: %s is not a table", containerdConfig, name)
			}
			next = map[string]any{}
			table[name] = next
		}
		table = next
	}
	table["SystemdCgroup"] = true
	changed, err := toml.Marshal(config)
	if err != nil {
		return err
	}
	// The file can hold passwords of registries, and can be a link.
	info, err := os.Stat(h.at(containerdConfig))
	if err != nil {
		return err
	}
	return os.WriteFile(h.at(containerdConfig), changed, info.Mode().Perm())
}
