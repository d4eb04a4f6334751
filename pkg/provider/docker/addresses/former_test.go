package addresses_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider/docker/addresses"
)

// The addresses are in files of the machines. Addresses of other networks do not count.
func TestFormer(t *testing.T) {
	const (
		peer, manifest = "/etc/kubernetes/pki/etcd/peer.crt", "/etc/kubernetes/manifests/etcd.yaml"
		admin, kubelet = "/etc/kubernetes/admin.conf", "/etc/kubernetes/kubelet.conf"
		flags          = "/var/lib/kubelet/kubeadm-flags.env"
		rke2, member   = "/etc/rancher/rke2/config.yaml", "/var/lib/rancher/rke2/server/db/etcd/config"
	)
	etcd := "    - --advertise-client-urls=https://172.18.0.6:2379\n" +
		"    - --initial-advertise-peer-urls=https://172.18.0.6:2380\n"
	for name, tc := range map[string]struct {
		controlPlane, worker map[string]string
		cp, lb, w            string // wanted addresses
		says                 string // of the error
	}{
		"kubeadm": {controlPlane: map[string]string{peer: string(certificate(t, "172.18.0.6", "127.0.0.1", "fd00::6")),
			admin: "    server: https://172.18.0.4:6443\n"}, cp: "172.18.0.6", lb: "172.18.0.4"},
		"its manifests have another address since": {controlPlane: map[string]string{
			peer: string(certificate(t, "172.18.0.5")), manifest: etcd}, cp: "172.18.0.5"},
		"the certificate is half a file": {controlPlane: map[string]string{peer: "-----BEGIN CERTIF",
			manifest: etcd}, cp: "172.18.0.6"},
		"all are half files": {controlPlane: map[string]string{peer: "", manifest: "apiVersion: v"},
			says: peer + ", " + manifest},
		"it is of another network": {controlPlane: map[string]string{peer: string(certificate(t, "10.0.0.6"))},
			says: "no single address of the network kind"},
		"of the network itself": {controlPlane: map[string]string{peer: string(certificate(t, "172.18.0.0"))},
			says: "no single address"},
		"it has two": {controlPlane: map[string]string{peer: string(certificate(t, "172.18.0.6", "172.18.0.7"))},
			says: "no single address"},
		"none was ever a control plane": {},
		"only the worker knows the load balancer": {worker: map[string]string{
			kubelet: "    server: \"https://172.18.0.4:6443\"\n"}, lb: "172.18.0.4"},
		"the worker's file was rewritten, the control plane's was not": {controlPlane: map[string]string{
			admin: "    server: https://172.18.0.4:6443\n"}, worker: map[string]string{
			kubelet: "    server: https://172.18.0.9:6443\n"}, lb: "172.18.0.4"},
		"kubelet talks to its own API server": {controlPlane: map[string]string{
			peer: string(certificate(t, "172.18.0.6")), kubelet: "    server: https://172.18.0.6:6443\n"}, cp: "172.18.0.6"},
		"the endpoint has a name": {controlPlane: map[string]string{admin: "    server: https://api.example:6443\n"}},
		"the machines do not agree": {worker: map[string]string{
			kubelet: "    server: https://172.18.0.9:6443\n"}, controlPlane: map[string]string{
			kubelet: "    server: https://172.18.0.8:6443\n"}, says: "which address the load balancer had"},
		"RKE2": {controlPlane: map[string]string{
			member: "name: a\ninitial-advertise-peer-urls: https://172.18.0.6:2380\n" +
				"advertise-client-urls: https://172.18.0.6:2379\n",
			rke2: "node-label:\n- a=b\ntls-san:\n- 172.18.0.4\n- localhost\ntoken: x\n"},
			worker: map[string]string{rke2: "server: https://172.18.0.4:9345\nnode-ip: 172.18.0.8\n"},
			cp:     "172.18.0.6", lb: "172.18.0.4", w: "172.18.0.8"},
		"its first server alone": {controlPlane: map[string]string{
			member: "initial-advertise-peer-urls: https://172.18.0.6:2380\n", rke2: "tls-san:\n- 172.18.0.4\ncni: none\n"},
			cp: "172.18.0.6", lb: "172.18.0.4"},
		"kubelet has its address as an argument": {worker: map[string]string{
			flags: `KUBELET_KUBEADM_ARGS="--node-ip=172.18.0.8 --v=1"`}, w: "172.18.0.8"},
		"two want one address": {controlPlane: map[string]string{peer: string(certificate(t, "172.18.0.8"))},
			worker: map[string]string{flags: "--node-ip=172.18.0.8"}, says: "both had the address 172.18.0.8"},
	} {
		t.Run(name, func(t *testing.T) {
			e := cluster(t)
			for container, files := range map[string]map[string]string{"demo-cp": tc.controlPlane,
				"demo-worker": tc.worker} {
				clear(e.files[container])
				for file, content := range files {
					e.file(container, file, content)
				}
			}
			networks, _ := e.Networks(t.Context(), network)
			items, err := addresses.Former(t.Context(), e, networks[0], e.list("demo-lb", "demo-cp", "demo-worker"))
			if tc.says != "" {
				if err == nil || !strings.Contains(err.Error(), tc.says) ||
					fault.CodeOf(err) != fault.ClusterUnreachable || !strings.Contains(fault.HintOf(err), "docker start") {
					t.Errorf("error %v (%s), want one with %q", err, fault.HintOf(err), tc.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{tc.lb, tc.cp, tc.w} {
				got := ""
				if items[i].Wanted.IsValid() {
					got = items[i].Wanted.String()
				}
				if got != want {
					t.Errorf("%s wants %q, want %q", items[i].Container.Name, got, want)
				}
			}
		})
	}
}

// A link in a machine leads nowhere.
func TestALinkIsNotRead(t *testing.T) {
	e := cluster(t)
	f := e.files["demo-cp"]["/etc/kubernetes/pki/etcd/peer.crt"]
	f.Header.Typeflag = '2'
	e.files["demo-cp"]["/etc/kubernetes/pki/etcd/peer.crt"] = f
	networks, _ := e.Networks(t.Context(), network)
	if _, err := addresses.Former(t.Context(), e, networks[0], e.list("demo-cp")); err == nil {
		t.Error("no error")
	}
}

// Only what runs at a wrong address is misplaced.
func TestMisplaced(t *testing.T) {
	e := cluster(t)
	e.running("demo-lb", "172.18.0.4")
	e.running("demo-cp", "172.18.0.5")
	e.running("demo-worker", "172.18.0.9")
	c := addresses.Cluster{Engine: e, Name: "demo", Containers: e.list("demo-lb", "demo-cp", "demo-worker")}
	found, err := c.Misplaced(t.Context())
	if err != nil || len(found) != 1 || found[0].Container.Name != "demo-cp" {
		t.Errorf("%v, %v", found, err)
	}
	c.Containers = []docker.Container{}
	if found, err := c.Misplaced(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("a cluster without containers: %v, %v", found, err)
	}
}
