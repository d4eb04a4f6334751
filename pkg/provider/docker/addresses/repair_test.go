package addresses_test

import (
	"archive/tar"
	"strings"
	"testing"
)

// The image's entrypoint never finds a former address, and what it replaced at a start with a wrong one is put back.
func TestRepair(t *testing.T) {
	const (
		manifest = "    - --advertise-address=172.18.0.6\n    - --service-cluster-ip-range=10.96.0.0/12\n" +
			"    - --service-account-issuer=https://kubernetes.default.svc.cluster.local\n" +
			"    image: registry.k8s.io/kube-apiserver:v1.36.4\n"
		apiServer = "/etc/kubernetes/manifests/kube-apiserver.yaml"
		kubelet   = "/etc/kubernetes/kubelet.conf"
	)
	e := cluster(t)
	e.file("demo-cp", "/kind/old-ipv4", "172.18.0.4") // it was started with the address of the load balancer
	e.file("demo-cp", apiServer, strings.ReplaceAll(manifest, "172.18.0.6", "172.18.0.4"))
	e.file("demo-cp", kubelet, "    server: https://172.18.0.4:6443\n")
	e.file("demo-worker", "/kind/old-ipv4", "172.18.0.9")
	e.file("demo-worker", kubelet, "    server: https://172.18.0.9:6443\n") // and the worker, too
	if _, err := e.bring(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(e.files["demo-cp"][apiServer].Content); got != manifest {
		t.Errorf("the manifest is %s", got)
	}
	for container, want := range map[string]string{"demo-cp": "172.18.0.6", "demo-worker": "172.18.0.4"} {
		f := e.files[container][kubelet]
		if got := string(f.Content); got != "    server: https://"+want+":6443\n" || f.Header.Mode != 0o600 {
			t.Errorf("kubelet of %s has %s", container, got)
		}
		for _, name := range []string{"/kind/old-ipv4", "/kind/old-ipv6"} {
			if link := e.files[container][name]; link.Header.Typeflag != tar.TypeSymlink ||
				link.Header.Linkname != "/dev/null" {
				t.Errorf("%s of %s is %+v", name, container, link)
			}
		}
	}
	if len(e.executed) != 1 || !strings.HasPrefix(e.executed[0], "demo-cp: kubeadm init phase certs apiserver "+
		"--apiserver-advertise-address 172.18.0.6 ") {
		t.Fatalf("executed %q", e.executed)
	}
	for _, want := range []string{"--control-plane-endpoint 172.18.0.4", "--service-cidr 10.96.0.0/12",
		"--service-dns-domain cluster.local", "--kubernetes-version v1.36.4"} {
		if !strings.Contains(e.executed[0], want) {
			t.Errorf("executed %q, want %s", e.executed[0], want)
		}
	}
}

// A machine whose files are right keeps them, and its certificate.
func TestNothingIsRepairedThatIsRight(t *testing.T) {
	e := cluster(t)
	e.file("demo-cp", "/kind/old-ipv4", "172.18.0.6")
	e.file("demo-cp", "/etc/kubernetes/manifests/kube-apiserver.yaml", "--advertise-address=172.18.0.6 172.18.0.4")
	e.file("demo-cp", "/etc/kubernetes/pki/apiserver.crt", "a certificate")
	if _, err := e.bring(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(e.files["demo-cp"]["/etc/kubernetes/manifests/kube-apiserver.yaml"].Content); got !=
		"--advertise-address=172.18.0.6 172.18.0.4" || len(e.executed) > 0 {
		t.Errorf("the manifest is %s, executed %q", got, e.executed)
	}
	if got := string(e.files["demo-worker"]["/etc/kubernetes/kubelet.conf"].Content); !strings.Contains(got,
		"172.18.0.4") {
		t.Errorf("kubelet of the worker has %s", got)
	}
}
