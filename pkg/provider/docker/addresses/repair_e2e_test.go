//go:build e2e

package addresses_test

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/provider/docker/addresses"
)

// machine starts a node's image as Cluster API does, with a control plane that kubeadm has begun, and returns its
// address.
func (r realNetwork) machine(name, balancer string) string {
	r.Helper()
	image, _, _ := strings.Cut(kind.DefaultNodeImage, "@")
	if _, err := r.Client.Run(r.Context(), docker.RunOptions{Name: r.network + name, Image: image, Privileged: true,
		Network: r.network, Mounts: []docker.Mount{{Type: "tmpfs", Target: "/run"}, {Type: "tmpfs", Target: "/tmp"},
			{Type: "volume", Target: "/var"}}, Labels: map[string]string{"cluster-init-itest": r.network,
			kind.ClusterLabel: r.network, kind.RoleLabel: "control-plane"}}); err != nil {
		r.Fatal(err)
	}
	address := r.address(name)
	_, tag, _ := strings.Cut(image, ":")
	flags := " --apiserver-advertise-address " + address + " --control-plane-endpoint " + balancer
	script := "set -e; until test -e /kind/old-ipv4; do sleep 1; done\n"
	for _, phase := range []string{"certs all", "kubeconfig all", "control-plane all"} {
		script += "kubeadm init phase " + phase + " --kubernetes-version " + tag + flags + "\n"
	}
	if err := r.Exec(r.Context(), r.network+name, []string{"sh", "-c", script}, docker.ExecOptions{}); err != nil {
		r.Fatal(err)
	}
	return address
}

// A machine whose image has deleted its certificate, because it was started with the address of the load balancer, gets
// all back.
func TestARealMachineIsRepaired(t *testing.T) {
	r := newReal(t)
	balancer := r.sleeper("-lb", kind.LoadBalancerRole)
	address := r.machine("-cp", balancer)
	r.stop("-lb", "-cp")
	if err := r.Start(t.Context(), r.network+"-cp"); err != nil {
		t.Fatal(err)
	}
	if got := r.address("-cp"); got != balancer {
		t.Fatalf("the machine has %s, want the load balancer's %s", got, balancer)
	}
	for end := time.Now().Add(time.Minute); r.inspect("-cp").Running; time.Sleep(time.Second) {
		if time.Now().After(end) {
			t.Fatal("the image came up without kind's configuration: is a repair still needed?")
		}
	}
	c := addresses.Cluster{Engine: r.Client, Name: r.network, Containers: []docker.Container{r.inspect("-lb"),
		r.inspect("-cp")}, Starting: func(addresses.Item) error { return nil }}
	if err := c.Bring(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		f, err := r.ReadFile(t.Context(), r.network+"-cp", name)
		if err != nil {
			t.Error(err)
		}
		return string(f.Content)
	}
	if got := read("/etc/kubernetes/manifests/kube-apiserver.yaml"); !strings.Contains(got, "--advertise-address="+
		address) || strings.Contains(got, balancer) {
		t.Errorf("the manifest is %s", got)
	}
	block, _ := pem.Decode([]byte(read("/etc/kubernetes/pki/apiserver.crt")))
	if block == nil {
		t.Fatal("the API server has no certificate")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, ip := range certificate.IPAddresses {
		names = append(names, ip.String())
	}
	for _, want := range []string{address, balancer, "10.96.0.1", "127.0.0.1"} {
		if !slices.Contains(names, want) {
			t.Errorf("the certificate is for %v, want %s", names, want)
		}
	}
	// Another wrong start changes nothing any more.
	r.stop("-lb", "-cp")
	if err := r.Start(t.Context(), r.network+"-cp"); err != nil {
		t.Fatal(err)
	}
	if err := r.Exec(t.Context(), r.network+"-cp", []string{"sh", "-c",
		"until grep -q systemd /proc/1/comm; do sleep 1; done"}, docker.ExecOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := read("/etc/kubernetes/manifests/kube-apiserver.yaml"); !strings.Contains(got, "--advertise-address="+
		address) || read("/etc/kubernetes/pki/apiserver.crt") == "" {
		t.Errorf("after another start with a wrong address, the manifest is %s", got)
	}
}
