// Command rke2-standin is what the hermetic lab installs as `rke2` on its machines. It is not RKE2: it takes RKE2's
// files, ports and annotations, as Cluster API's provider for RKE2 writes and reads them, and has the node image's own
// kubeadm, kubelet and containerd do the work. See docs/contributing/rke2-standin.md.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// release is the version of RKE2 that this program stands in for; the lab's build sets it.
var release = "v0.0.0+rke2r0"

const usage = "usage: rke2 server | agent | --version (configured by /etc/rancher/rke2/config.yaml)"

func main() {
	log.SetFlags(0) // the journal has the time
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		log.Fatal("rke2-standin: ", err)
	}
}

// run is one call of the program.
func run(ctx context.Context, args []string, out io.Writer) error {
	host := paths{root: "/"}
	switch strings.Join(args, " ") {
	case "server":
		return runServer(ctx, host)
	case "agent":
		return runAgent(ctx, host)
	case "--version", "-v":
		_, err := fmt.Fprintln(out, version())
		return err
	}
	return fmt.Errorf("%q is not known here; %s", strings.Join(args, " "), usage)
}

// version is the answer to --version: it starts as RKE2's does and then says what this is.
func version() string {
	return "rke2 version " + release + "-standin (cluster-init's lab stand-in, not RKE2: kubeadm behind RKE2's files " +
		"and ports)"
}

// kubernetesVersion is the part of the release that kubeadm knows.
func kubernetesVersion() string {
	plain, _, _ := strings.Cut(release, "+")
	return plain
}
