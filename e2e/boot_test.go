//go:build e2e

package e2e

import (
	"net"
	"strings"
	"testing"
)

// TestMatrixBoot makes nodes of an image that has nothing of Kubernetes. A file with one flipped byte, and a mirror
// that does not answer, are named. Then the files come from the registry next to the clusters. The machine of a
// workload cluster has them by Ignition, from their own URLs.
func TestMatrixBoot(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	program, release := newProgram(t), l.newRelease(t, l.dockerMachines(t))
	up := []string{"up", environmentName, "--set", "cluster.bootstrap_formats={ignition}", "--bundle", l.bundle}
	silent := "http://" + net.JoinHostPort(gateway(t), "9") + "/blobs"
	for mirror, want := range map[string]string{
		release.flipped(t, "kubelet"): "install /usr/bin/kubelet: the digest of ",
		silent: "install /opt/cni/bin: fetch " + silent + "/sha256:" + release.digest(t, "cni.tgz") +
			": dial tcp ",
	} {
		values := release.values(t, program, release.version, map[string]any{"kubernetes_mirror": mirror})
		l.endsNaming(t, append(up, "--values", values), "io.x-k8s.kind.cluster="+l.name, want)
		has(t, controlPlane(t, l.name), map[string]string{"no kubelet": "test ! -e /usr/bin/kubelet",
			"nothing half": "test -z \"$(ls -A /usr/bin | grep machineadm)\"",
			"no manifests": `test -z "$(ls /etc/kubernetes/manifests)"`})
	}
	l.boots(t, release, program, release.version, up)
	hasReport(t, controlPlane(t, l.name), "")
	shop := workloadName + "/" + workloadName
	apply := append([]string{"workload", "apply"}, l.workloadDefinition("--values",
		release.withoutKept().values(t, program, release.version, nil), "--set", "cluster.bootstrap_format=ignition")...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	l.hasReadyNode(t, shop)
	hasReport(t, controlPlane(t, workloadName), "")
	has(t, controlPlane(t, workloadName), map[string]string{"its URLs": "grep -F " + release.address +
		" /etc/machineadm/machine.yaml"})
	l.deleteWorkload(t, shop, []string{"--in", l.name})
	cleanup(t, l)
}

// TestMatrixBootVersion rolls the machines to another version on the same image.
func TestMatrixBootVersion(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	program, release := newProgram(t), l.newRelease(t, l.dockerMachines(t))
	for _, version := range []string{release.version, release.next} {
		bundle := release.bundleOf(t, l.bundle, version)
		l.boots(t, release, program, version, []string{"up", environmentName, "--bundle", bundle})
	}
	cleanup(t, l)
}

// boots runs `up`, and sees that all nodes have the version, from the registry next to the clusters, on the stock
// image.
func (l lab) boots(t *testing.T, r release, program program, version string, up []string) {
	t.Helper()
	if code, _ := l.run(t, append(up, "--values", r.values(t, program, version, nil))...); code != 0 {
		t.Fatalf("up of %s ended with %d", version, code)
	}
	l.management(t).managesItself(t)
	has(t, controlPlane(t, l.name), map[string]string{
		"its programs": "test -x /usr/bin/kubelet && test -x /opt/cni/bin/loopback",
		"its version":  "kubelet --version | grep -F " + version,
		"the registry": "grep -F http://" + l.name + "-registry:5000/ /etc/machineadm/machine.yaml"})
	nodes := docker(t, "exec", "--env", "KUBECONFIG=/etc/kubernetes/admin.conf", controlPlane(t, l.name), "kubectl",
		"get", "nodes", "--output=jsonpath={.items[*].status.nodeInfo.kubeletVersion}")
	if left := strings.TrimSpace(strings.ReplaceAll(nodes, version, "")); left != "" || nodes == "" {
		t.Errorf("the nodes are of %s", nodes)
	}
	for _, machine := range containers(t, "io.x-k8s.kind.cluster="+l.name) {
		image := strings.TrimSpace(docker(t, "inspect", "--format", "{{.Config.Image}}", machine))
		if image != r.stock && machine != l.name+"-lb" {
			t.Errorf("%s has the image %s", machine, image)
		}
	}
}
