package machineadm

import (
	"context"
	"fmt"
	"strings"
)

// versionSteps compare the version of kubeadm with the wanted one, and that of a kubelet that was installed.
func (h Host) versionSteps(c Config) []step {
	if c.Kubernetes == nil {
		return nil
	}
	whose := "the image has"
	if c.installs() {
		whose = "what was installed is"
	}
	list := []step{{name: "compare the version of kubeadm", run: func(ctx context.Context) error {
		kubeadm, err := h.findKubeadm("")
		if err != nil {
			return err
		}
		return h.compareVersion(ctx, whose, c.Kubernetes.Version, kubeadm, "version", "--output=short")
	}}}
	if c.installs() {
		list = append(list, step{name: "compare the version of the kubelet", run: func(ctx context.Context) error {
			kubelet, err := h.find("kubelet")
			if err != nil {
				return err
			}
			return h.compareVersion(ctx, whose, c.Kubernetes.Version, kubelet, "--version")
		}})
	}
	return list
}

// compareVersion compares what a program says of its version with the wanted one. What a distribution appends does not
// count.
func (h Host) compareVersion(ctx context.Context, whose, wanted, program string, args ...string) error {
	output, err := h.output(ctx, program, args...)
	if err != nil {
		return err
	}
	found := strings.TrimPrefix(lastLine(output), "Kubernetes ") // as the kubelet says it
	if i := strings.IndexAny(found, "-+"); i > 0 {
		found = found[:i]
	}
	if found != wanted {
		return fmt.Errorf("%s %s, want %s", whose, found, wanted)
	}
	return nil
}
