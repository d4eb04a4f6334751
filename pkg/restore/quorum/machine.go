// Package quorum restores the etcd of a management cluster that lost its majority, from a snapshot, on the one
// control-plane machine that is left.
package quorum

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

const (
	manifests = "/etc/kubernetes/manifests"
	// aside has the manifests of etcd and of the API server while they must not run.
	aside = "/etc/kubernetes/cluster-init-restore"
	// lookBound limits the time of one command that reads.
	lookBound = 30 * time.Second
)

// State is what the files of a machine say.
type State struct {
	Member   string // its name in etcd
	Peer     string // its URL for other members
	Address  string // the host of Peer
	Image    string // of etcd
	DataDir  string
	Identity string // of the cluster, see backup.IdentityOf
	// Kubernetes is the tag of the API server's image.
	Kubernetes string
}

// Look reads the state of a machine. It also understands a machine on which an earlier run was interrupted.
func Look(ctx context.Context, m provider.ControlPlane) (State, error) {
	var s State
	member, err := podOf(ctx, m, "etcd")
	if err != nil {
		return s, err
	}
	server, err := podOf(ctx, m, "kube-apiserver")
	if err != nil {
		return s, err
	}
	authority, err := read(ctx, m, "cat", "/etc/kubernetes/pki/ca.crt")
	if err != nil {
		return s, err
	}
	s.Identity = backup.IdentityOf([]byte(authority))
	arguments := argumentsOf(member)
	s.Member, s.Peer, s.DataDir = arguments["name"], arguments["initial-advertise-peer-urls"], arguments["data-dir"]
	s.Image, s.Kubernetes = member.Spec.Containers[0].Image, tagOf(server.Spec.Containers[0].Image)
	peer, err := url.Parse(s.Peer)
	if err != nil || peer.Hostname() == "" || s.Member == "" || s.Image == "" || s.Kubernetes == "" ||
		!path.IsAbs(s.DataDir) || path.Clean(s.DataDir) != s.DataDir || s.DataDir == "/" {
		return s, fmt.Errorf("the manifest of etcd on %s has no name, address, image or data-dir that kubeadm writes",
			m.Name())
	}
	s.Address = peer.Hostname()
	return s, nil
}

// podOf reads the manifest of a static Pod with one container.
func podOf(ctx context.Context, m provider.ControlPlane, name string) (*corev1.Pod, error) {
	text, err := read(ctx, m, "sh", "-c", `if test -e "$0"; then exec cat "$0"; fi; exec cat "$1"`,
		manifests+"/"+name+".yaml", aside+"/"+name+".yaml")
	if err != nil {
		return nil, fmt.Errorf("read the manifest of %s: %w", name, err)
	}
	if err := unpack.YAML([]byte(text)); err != nil {
		return nil, fmt.Errorf("read the manifest of %s on %s: %w", name, m.Name(), err)
	}
	var pod corev1.Pod
	if err := yaml.Unmarshal([]byte(text), &pod); err != nil {
		return nil, fmt.Errorf("read the manifest of %s on %s: %w", name, m.Name(), err)
	}
	if len(pod.Spec.Containers) != 1 {
		return nil, fmt.Errorf("the manifest of %s on %s has %d containers, want 1", name, m.Name(),
			len(pod.Spec.Containers))
	}
	return &pod, nil
}

func read(ctx context.Context, m provider.ControlPlane, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookBound)
	defer cancel()
	text, err := m.Run(ctx, nil, args...)
	if err != nil {
		return "", fmt.Errorf("on machine %s: %w", m.Name(), errors.Join(err, ctx.Err()))
	}
	return text, nil
}

// argumentsOf returns the arguments of a Pod's container by their names.
func argumentsOf(pod *corev1.Pod) map[string]string {
	all := map[string]string{}
	for _, argument := range append(pod.Spec.Containers[0].Command, pod.Spec.Containers[0].Args...) {
		if name, value, is := strings.Cut(strings.TrimPrefix(argument, "--"), "="); is {
			all[name] = value
		}
	}
	return all
}

// tagOf returns the tag of an image; empty if it has none.
func tagOf(image string) string {
	image, _, _ = strings.Cut(image, "@")
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return tag
}
