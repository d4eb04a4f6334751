package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor/drive"
)

// cloudInit is cloud-init's folder in the image, and seed where in it the datasource ConfigDrive finds a drive that is
// no device.
const (
	cloudInit = "/var/lib/cloud"
	seed      = "seed/config_drive"
)

// Make creates the container, gives it its config drive and its places in networks, and starts it. Until then it is in
// docker's state "created", by which a half made one is known.
func (e Engine) Make(ctx context.Context, machine hypervisor.Machine, content drive.Content) error {
	image, err := e.Image(ctx, machine.Image)
	if err != nil {
		return err
	}
	archive, err := content.Archive(seed)
	if err != nil {
		return err
	}
	name := ContainerName(machine.Name, machine.Server)
	if _, err := docker(ctx, e.createArgs(machine, content.Metadata.Hostname, name, image)...); err != nil {
		return err
	}
	// Through standard input: neither a list of processes nor a file shows the secrets in it.
	if _, err := host.Run(ctx, host.Command{Name: "docker", Args: []string{"cp", "-", name + ":" + cloudInit},
		Stdin: archive}); err != nil {
		return fmt.Errorf("give container %s its config drive: %w", name, err)
	}
	for _, link := range machine.Links[1:] {
		if _, err := docker(ctx, "network", "connect", "--ip", link.Address.String(), networkName(link.Network),
			name); err != nil {
			return err
		}
	}
	_, err = docker(ctx, "start", name)
	return err
}

// createArgs are those with which kind and Cluster API's provider for docker make nodes of the same image, and the
// server's address. Redirects are refused: the host would send some for floating addresses, and they outlive a move.
func (e Engine) createArgs(machine hypervisor.Machine, hostname, name, image string) []string {
	return []string{
		"create", "--pull", "never", "--name", name, "--hostname", hostname, "--tty", "--init=false",
		"--label", cloudLabel + "=" + e.Cloud, "--label", serverLabel + "=" + machine.Server,
		"--privileged", "--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--cgroupns",
		"private",
		"--tmpfs", "/tmp", "--tmpfs", "/run", "--volume", "/var", "--volume", "/lib/modules:/lib/modules:ro",
		"--sysctl", "net.ipv4.conf.all.accept_redirects=0", "--sysctl", "net.ipv4.conf.default.accept_redirects=0",
		"--network", networkName(machine.Links[0].Network), "--ip", machine.Links[0].Address.String(),
		image,
	}
}

// ContainerName is the name of a server's container: two servers may have the same name.
func ContainerName(server, id string) string { return fmt.Sprintf("%s-%.8s", server, id) }

// consoleLines is how much of a console is kept.
const consoleLines = "400"

// Console writes what the container has said where nova's driver reads it. Only root reads it: it can hold secrets.
func (e Engine) Console(ctx context.Context, container hypervisor.Container) error {
	out, err := docker(ctx, "container", "logs", "--tail", consoleLines, container.ID)
	if err != nil {
		return err
	}
	return configuration.Write(filepath.Join(e.Consoles, container.Server+".log"), []byte(out))
}

// Remove removes the container and its volumes.
func (e Engine) Remove(ctx context.Context, container hypervisor.Container) error {
	_, err := docker(ctx, "container", "rm", "--force", "--volumes", container.ID)
	return err
}

// Power starts or stops the container.
func (e Engine) Power(ctx context.Context, container hypervisor.Container, on bool) error {
	verb := "stop"
	if on {
		verb = "start"
	}
	_, err := docker(ctx, "container", verb, container.ID)
	return err
}
