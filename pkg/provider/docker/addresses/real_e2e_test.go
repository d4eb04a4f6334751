//go:build e2e

package addresses_test

import (
	"archive/tar"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/prerequisite"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider/docker/addresses"
)

// realNetwork is a network of a real engine, with containers that only sleep.
type realNetwork struct {
	*testing.T
	*docker.Client
	network string
}

func newReal(t *testing.T) realNetwork {
	t.Helper()
	r := realNetwork{t, &docker.Client{}, fmt.Sprintf("cluster-init-itest-addresses-%d", os.Getpid())}
	if _, err := r.Info(t.Context()); err != nil {
		prerequisite.Missing(t, fmt.Sprintf("no Docker engine: %v", err))
	}
	image, _, _ := strings.Cut(kind.DefaultNodeImage, "@")
	if there, err := r.ImageExists(t.Context(), image); err != nil || !there {
		prerequisite.Missing(t, fmt.Sprintf("the Docker engine has no image %s: %v", image, err))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		names, err := r.Containers(ctx, docker.Filter{Labels: []string{"cluster-init-itest=" + r.network}})
		if err == nil {
			err = r.Remove(ctx, names...)
		}
		if err == nil {
			err = r.RemoveNetwork(ctx, r.network)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err := r.CreateKindNetwork(t.Context(), r.network, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// sleeper starts a container, of a cluster unless role is empty, and returns its address.
func (r realNetwork) sleeper(name, role string) string {
	r.Helper()
	image, _, _ := strings.Cut(kind.DefaultNodeImage, "@")
	labels := map[string]string{"cluster-init-itest": r.network}
	if role != "" {
		labels[kind.ClusterLabel], labels[kind.RoleLabel] = r.network, role
	}
	if _, err := r.Client.Run(r.Context(), docker.RunOptions{Name: r.network + name, Image: image, Entrypoint: "sh",
		Args: []string{"-c", "trap 'exit 0' 15 37; sleep 600 & wait"}, Network: r.network, Labels: labels}); err != nil {
		r.Fatal(err)
	}
	return r.address(name)
}

func (r realNetwork) inspect(name string) docker.Container {
	r.Helper()
	c, err := r.Inspect(r.Context(), r.network+name)
	if err != nil {
		r.Fatal(err)
	}
	return c
}

func (r realNetwork) address(name string) string { return r.inspect(name).Networks[r.network].IPv4 }

func (r realNetwork) stop(names ...string) {
	r.Helper()
	for _, name := range names {
		if err := r.Stop(r.Context(), r.network+name); err != nil {
			r.Fatal(err)
		}
	}
}

func (r realNetwork) write(name, folder, file, content string) {
	r.Helper()
	if err := r.Exec(r.Context(), r.network+name, []string{"mkdir", "-p", folder}, docker.ExecOptions{}); err != nil {
		r.Fatal(err)
	}
	if err := r.WriteFile(r.Context(), r.network+name, folder, docker.File{Header: tar.Header{Typeflag: tar.TypeReg,
		Name: file, Mode: 0o600}, Content: []byte(content)}); err != nil {
		r.Fatal(err)
	}
}

// A real engine gives other addresses after a reboot: the containers get theirs back, and what holds lower ones in the
// meantime goes.
func TestARealEngineGivesFormerAddresses(t *testing.T) {
	r := newReal(t)
	r.sleeper("-gone", "")
	balancer := r.sleeper("-lb", kind.LoadBalancerRole)
	r.sleeper("-gone-too", "")
	machine := r.sleeper("-cp", "control-plane")
	r.sleeper("-worker", "worker")
	r.write("-cp", "/etc/kubernetes/pki/etcd", "peer.crt", string(certificate(t, machine, "127.0.0.1")))
	r.write("-cp", "/etc/kubernetes", "admin.conf", "    server: https://"+balancer+":6443\n")
	r.write("-worker", "/etc/kubernetes", "kubelet.conf", "    server: https://"+balancer+":6443\n")
	r.stop("-gone", "-lb", "-gone-too", "-cp", "-worker")
	if err := r.Remove(t.Context(), r.network+"-gone", r.network+"-gone-too"); err != nil {
		t.Fatal(err)
	}
	bring := func(misplacedToo bool) ([]string, error) {
		var started, again []string
		c := addresses.Cluster{Engine: r.Client, Name: r.network, Starting: func(i addresses.Item) error {
			started = append(started, strings.TrimPrefix(i.Container.Name, r.network))
			return nil
		}}
		for _, name := range []string{"-lb", "-cp", "-worker"} {
			c.Containers = append(c.Containers, r.inspect(name))
		}
		if misplacedToo {
			misplaced, err := c.Misplaced(t.Context())
			if err != nil {
				return nil, err
			}
			for _, i := range misplaced {
				again = append(again, i.Container.Name)
			}
		}
		return started, c.Bring(t.Context(), again)
	}
	check := func(when string) {
		t.Helper()
		if got := r.address("-lb"); got != balancer {
			t.Errorf("%s, the load balancer has %s, want %s", when, got, balancer)
		}
		if got := r.address("-cp"); got != machine {
			t.Errorf("%s, the machine has %s, want %s", when, got, machine)
		}
		if !r.inspect("-worker").Running {
			t.Errorf("%s, the worker does not run", when)
		}
		left, err := r.Containers(t.Context(), docker.Filter{Labels: []string{owned.HoldsLabel,
			owned.ClusterLabel + "=" + r.network}})
		if err != nil || len(left) > 0 {
			t.Errorf("%s, %v are left: %v", when, left, err)
		}
	}

	started, err := bring(false)
	if err != nil || len(started) != 3 {
		t.Fatalf("started %v: %v", started, err)
	}
	check("after a reboot")

	// Restart policies start everything in any order.
	r.stop("-lb", "-cp", "-worker")
	for _, name := range []string{"-worker", "-cp", "-lb"} {
		if err := r.Start(t.Context(), r.network+name); err != nil {
			t.Fatal(err)
		}
	}
	if started, err = bring(false); err != nil || len(started) > 0 {
		t.Errorf("started %v again without being asked: %v", started, err)
	}
	if _, err = bring(true); err != nil {
		t.Fatal(err)
	}
	check("after the engine started them")

	// Another container has the address.
	r.stop("-lb", "-cp", "-worker")
	for i, got := 0, ""; !slices.Contains([]string{balancer, machine}, got); i++ {
		got = r.sleeper(fmt.Sprintf("-other-%d", i), "")
	}
	if started, err = bring(false); fault.CodeOf(err) != fault.ClusterUnreachable ||
		!strings.Contains(fault.HintOf(err), "docker stop "+r.network+"-other-") || len(started) > 0 {
		t.Errorf("started %v: %v (%s)", started, err, fault.HintOf(err))
	}
}
