package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"
)

const (
	// joinBound is how long a node tries to become part of its cluster before the unit fails, and systemd restarts it.
	joinBound = 15 * time.Minute
	// apiBound is how long the API server of a node that is part of its cluster may take to answer.
	apiBound = 5 * time.Minute
)

// becomePart runs attempt until the node is part of its cluster; a node that is already runs nothing. `systemctl start`
// waits for this, and would not wait for a restart: therefore a failed attempt is begun again here.
func becomePart(ctx context.Context, p paths, attempt func(context.Context) error) error {
	if exists(p.joined()) {
		return nil
	}
	said := ""
	err := until(ctx, joinBound, "this node to become part of its cluster", func(ctx context.Context) error {
		err := undo(ctx, p)
		if err == nil {
			err = attempt(ctx)
		}
		if err != nil && err.Error() != said {
			said = err.Error()
			log.Print("begin again, because: ", said)
		}
		return err
	})
	if err != nil {
		return err
	}
	return writeFile(p.joined(), []byte(version()+"\n"))
}

// undo takes back what an attempt left that did not end well, or was killed.
func undo(ctx context.Context, p paths) error {
	left := false
	for _, name := range []string{"etc/kubernetes/admin.conf", "etc/kubernetes/kubelet.conf",
		"etc/kubernetes/bootstrap-kubelet.conf",
		"etc/kubernetes/manifests/etcd.yaml", "etc/kubernetes/manifests/kube-apiserver.yaml", "var/lib/etcd/member",
		"var/lib/kubelet/config.yaml"} {
		left = left || exists(p.at(name))
	}
	if !left {
		return nil
	}
	log.Print("an earlier attempt did not end well: kubeadm reset")
	if err := call(ctx, "kubeadm", "reset", "--force", "--cri-socket", criSocket); err != nil {
		return err
	}
	// kubeadm leaves these when it does not know of them any more. The member gets a new name with its new data.
	return errors.Join(os.RemoveAll(p.at("var/lib/etcd")), os.RemoveAll(p.pki()), removeFile(p.memberName()))
}

// removeFile removes a file that may be gone.
func removeFile(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", filepath.Base(name), err)
	}
	return nil
}
