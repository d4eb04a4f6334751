package machineadm

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
)

// unitFolders are those where systemd looks for units.
var unitFolders = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system", "/lib/systemd/system"}

// kubeletUnit starts the kubelet with what kubeadm writes. Until then it fails, and is started again.
const kubeletUnit = `[Unit]
Description=Kubelet, installed by machineadm
After=network-online.target containerd.service
Wants=network-online.target

[Service]
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=%s --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \
  --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml \
  $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`

// containerdUnit starts containerd.
const containerdUnit = `[Unit]
Description=containerd, installed by machineadm
After=network.target local-fs.target

[Service]
ExecStartPre=-/sbin/modprobe overlay
ExecStart=%s
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNOFILE=infinity
TasksMax=infinity
OOMScoreAdjust=-999

[Install]
WantedBy=multi-user.target
`

// containerdDefaults are what machines need in addition to containerd's own defaults.
const containerdDefaults = `version = 3

[plugins.'io.containerd.cri.v1.images'.registry]
config_path = '/etc/containerd/certs.d'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
SystemdCgroup = true
`

// unitSteps write the units of programs that were installed, unless the image has them.
func (h Host) unitSteps(c Config) []step {
	if !c.installs() {
		return nil
	}
	return []step{
		{name: "start containerd", run: h.ensureContainerd},
		{name: "enable the kubelet", run: func(ctx context.Context) error {
			if err := h.ensureUnit("kubelet", kubeletUnit); err != nil {
				return err
			}
			if err := h.run(ctx, "systemctl", "daemon-reload"); err != nil {
				return err
			}
			return h.run(ctx, "systemctl", "enable", "kubelet")
		}},
	}
}

// ensureContainerd starts containerd, with a unit and a configuration if it has none.
func (h Host) ensureContainerd(ctx context.Context) error {
	configured, err := h.exists(containerdConfig)
	if err == nil && !configured {
		err = h.configureContainerd(ctx)
	}
	if err != nil {
		return err
	}
	if err := h.ensureUnit("containerd", containerdUnit); err != nil {
		return err
	}
	if err := h.run(ctx, "systemctl", "daemon-reload"); err != nil {
		return err
	}
	if err := h.run(ctx, "systemctl", "enable", "containerd"); err != nil {
		return err
	}
	return h.run(ctx, "systemctl", "restart", "containerd")
}

// containerdVersion matches the major version that containerd reports.
var containerdVersion = regexp.MustCompile(` v?([0-9]+)\.[0-9]+\.[0-9]+`)

// configureContainerd writes a configuration of the version that containerd reads.
func (h Host) configureContainerd(ctx context.Context) error {
	output, err := h.output(ctx, "containerd", "--version")
	if err != nil {
		return err
	}
	found := containerdVersion.FindStringSubmatch(output)
	switch {
	case found == nil:
		return errors.New("the version of containerd is not known: " + lastLine(output))
	case found[1] == "1":
		return errors.New("containerd 1 is not supported without a configuration of its own: " + containerdConfig)
	}
	return h.write(containerdConfig, containerdDefaults, 0o600)
}

// ensureUnit writes a unit that starts a program, unless the machine has that unit.
func (h Host) ensureUnit(name, text string) error {
	for _, folder := range unitFolders {
		if found, err := h.exists(path.Join(folder, name+".service")); found || err != nil {
			return err
		}
	}
	program, err := h.find(name)
	if err != nil {
		return err
	}
	return h.write("/etc/systemd/system/"+name+".service", fmt.Sprintf(text, program), 0o644)
}
