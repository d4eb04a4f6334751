package addresses

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
)

// Rule from kind v0.33.0, images/base/files/usr/local/bin/entrypoint: a node that starts with another address than the
// last time replaces the former address in these files, and deletes the certificate of its API server to make it again
// from kind's own configuration, which machines of Cluster API lack.
const (
	kindFolder    = "/kind"
	formerAddress = "old-ipv4"
	apiServer     = "/etc/kubernetes/manifests/kube-apiserver.yaml"
	apiServerCert = "/etc/kubernetes/pki/apiserver.crt"
)

var rewritten = []string{"/etc/kubernetes/manifests/etcd.yaml", apiServer,
	"/etc/kubernetes/manifests/kube-controller-manager.yaml", "/etc/kubernetes/manifests/kube-scheduler.yaml",
	"/etc/kubernetes/controller-manager.conf", "/etc/kubernetes/scheduler.conf", kubeletConf,
	"/var/lib/kubelet/kubeadm-flags.env"}

// protect has a stopped machine keep its files, whatever address it gets: the entrypoint finds no former address, and
// writes none. It puts back what a start with a wrong address has replaced.
func protect(ctx context.Context, e Engine, i Item) error {
	name := i.Container.Name
	last, err := e.ReadFile(ctx, name, path.Join(kindFolder, formerAddress))
	if errors.Is(err, docker.ErrNotFound) { // another image, or it never started
		return nil
	}
	if err != nil {
		return err
	}
	if !last.Regular() { // an earlier run has done it
		return nil
	}
	if had, err := netip.ParseAddr(strings.TrimSpace(string(last.Content))); err == nil && i.Wanted.IsValid() &&
		had != i.Wanted {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(had.String()) + `\b`)
		for _, file := range rewritten {
			if err := replace(ctx, e, name, file, func(content []byte) []byte {
				return word.ReplaceAllLiteral(content, []byte(i.Wanted.String()))
			}); err != nil {
				return err
			}
		}
	}
	if err := replace(ctx, e, name, kubeletConf, i.server); err != nil {
		return err
	}
	for _, file := range []string{formerAddress, "old-ipv6"} {
		link := docker.File{Header: tar.Header{Typeflag: tar.TypeSymlink, Name: file, Linkname: "/dev/null",
			Mode: 0o777}}
		if err := e.WriteFile(ctx, name, kindFolder, link); err != nil {
			return err
		}
	}
	return nil
}

// server corrects the address in kubelet's kubeconfig: that of the machine itself is right on a control plane only.
func (i Item) server(content []byte) []byte {
	return serverAddress.ReplaceAllFunc(content, func(line []byte) []byte {
		has := serverAddress.FindSubmatch(line)[1]
		if !i.Endpoint.IsValid() || string(has) == i.Endpoint.String() || string(has) == i.Wanted.String() &&
			i.Container.Labels[kind.RoleLabel] == controlPlane {
			return line
		}
		return bytes.Replace(line, has, []byte(i.Endpoint.String()), 1)
	})
}

// replace changes a file of a stopped machine, if it has the file and the change is one.
func replace(ctx context.Context, e Engine, machine, file string, change func([]byte) []byte) error {
	f, err := e.ReadFile(ctx, machine, file)
	if errors.Is(err, docker.ErrNotFound) || err == nil && !f.Regular() {
		return nil
	}
	if err != nil {
		return err
	}
	changed := change(f.Content)
	if bytes.Equal(changed, f.Content) {
		return nil
	}
	f.Content = changed
	return e.WriteFile(ctx, machine, path.Dir(file), f)
}

var (
	serviceRange = regexp.MustCompile(`(?m)^\s*- --service-cluster-ip-range=(\S+)$`)
	domain       = regexp.MustCompile(`(?m)^\s*- --service-account-issuer=https://kubernetes\.default\.svc\.(\S+)$`)
	version      = regexp.MustCompile(`(?m)^\s*image: \S*kube-apiserver:(v[0-9][\w.-]*?)(?:@\S+)?$`)
	word         = regexp.MustCompile(`^[\w.:/,-]+$`)
)

// certify has a running machine make the certificate of its API server, if the entrypoint has deleted it.
func certify(ctx context.Context, e Engine, i Item) error {
	name := i.Container.Name
	manifest, err := e.ReadFile(ctx, name, apiServer)
	if errors.Is(err, docker.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := e.ReadFile(ctx, name, apiServerCert); !errors.Is(err, docker.ErrNotFound) {
		return err
	}
	args := []string{"kubeadm", "init", "phase", "certs", "apiserver", "--apiserver-advertise-address",
		i.Wanted.String(), "--apiserver-cert-extra-sans", "localhost,127.0.0.1,0.0.0.0,host.docker.internal"}
	if i.Endpoint.IsValid() {
		args = append(args, "--control-plane-endpoint", i.Endpoint.String())
	}
	for flag, match := range map[string]*regexp.Regexp{"--service-cidr": serviceRange, "--service-dns-domain": domain,
		"--kubernetes-version": version} {
		found := match.FindSubmatch(manifest.Content)
		if found != nil && word.Match(found[1]) {
			args = append(args, flag, string(found[1]))
		}
	}
	if err := e.Exec(ctx, name, args, docker.ExecOptions{}); err != nil {
		return fault.Wrap(fmt.Errorf("make the certificate of the API server again: %w", err), fault.ClusterUnreachable,
			"See what is missing: docker exec "+name+" ls /etc/kubernetes/pki")
	}
	return nil
}
