package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/hypervisor"
)

// configurationFile is haproxy's, below /etc.
const configurationFile = "haproxy/haproxy.cfg"

// MakeProxy creates a container with haproxy, gives it its configuration, and starts it.
func (e Engine) MakeProxy(ctx context.Context, proxy hypervisor.Proxy) error {
	name := ContainerName(proxy.Name, proxy.Balancer)
	if _, err := docker(ctx, e.proxyArgs(proxy, name)...); err != nil {
		return err
	}
	if err := writeConfiguration(ctx, name, proxy.Configuration); err != nil {
		return err
	}
	_, err := docker(ctx, "start", name)
	return err
}

// proxyArgs make haproxy run as a master, which takes another configuration without losing connections.
func (e Engine) proxyArgs(proxy hypervisor.Proxy, name string) []string {
	return []string{
		"create", "--pull", "never", "--name", name,
		"--label", cloudLabel + "=" + e.Cloud, "--label", balancerLabel + "=" + proxy.Balancer,
		"--sysctl", "net.ipv4.conf.all.accept_redirects=0", "--sysctl", "net.ipv4.conf.default.accept_redirects=0",
		"--network", networkName(proxy.Link.Network), "--ip", proxy.Link.Address.String(),
		e.ProxyImage, "/usr/sbin/haproxy", "-W", "-db", "-f", "/etc/" + configurationFile,
	}
}

// Configure replaces the configuration of a proxy, and has haproxy read it.
func (e Engine) Configure(ctx context.Context, container hypervisor.Container, configuration string) error {
	if err := writeConfiguration(ctx, container.ID, configuration); err != nil {
		return err
	}
	_, err := docker(ctx, "container", "kill", "--signal", "USR2", container.ID)
	return err
}

func writeConfiguration(ctx context.Context, container, configuration string) error {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	header := &tar.Header{Name: configurationFile, Mode: 0o644, Size: int64(len(configuration))}
	if err := writer.WriteHeader(header); err != nil {
		return fmt.Errorf("write the configuration of container %s: %w", container, err)
	}
	if _, err := writer.Write([]byte(configuration)); err != nil {
		return fmt.Errorf("write the configuration of container %s: %w", container, err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("write the configuration of container %s: %w", container, err)
	}
	if _, err := host.Run(ctx, host.Command{Name: "docker", Args: []string{"cp", "-", container + ":/etc"},
		Stdin: archive.Bytes()}); err != nil {
		return fmt.Errorf("write the configuration of container %s: %w", container, err)
	}
	return nil
}
