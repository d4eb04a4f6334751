// Command lab-cni is the lab's pod network: it hands this node's podCIDR to the ptp plugin and keeps one route for
// the podCIDR of every other node. All nodes must be on one layer-2 network, as containers of one engine are.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// resync repairs a route that something else removed, without any event from the API.
const resync = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv("NODE_NAME"), "/etc/cni/net.d"); err != nil {
		slog.Error("lab-cni ends", "error", err)
		os.Exit(1)
	}
}

// run watches the nodes and applies what they say until ctx is over.
func run(ctx context.Context, node, dir string) error {
	config, err := rest.InClusterConfig()
	if err != nil {
		return fmt.Errorf("read the service account: %w", err)
	}
	// kind names its API server here, so that the network need not wait for kube-proxy.
	if endpoint := os.Getenv("CONTROL_PLANE_ENDPOINT"); endpoint != "" {
		config.Host = "https://" + endpoint
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make the API client: %w", err)
	}
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	nodes := factory.Core().V1().Nodes()
	if _, err := nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { notify() },
		UpdateFunc: func(any, any) { notify() },
		DeleteFunc: func(any) { notify() },
	}); err != nil {
		return fmt.Errorf("watch the nodes: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return loop(ctx, changed, nodes.Lister(), node, dir)
}

// loop applies the state of the nodes after each change. A failure is logged and tried again: a node of a cluster
// that is being built up changes often.
func loop(ctx context.Context, changed <-chan struct{}, nodes listers.NodeLister, node, dir string) error {
	ticker := time.NewTicker(resync)
	defer ticker.Stop()
	for {
		if err := apply(nodes, node, dir); err != nil && ctx.Err() == nil {
			slog.Warn("the network is not complete yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-ticker.C:
		}
	}
}

// apply writes this node's plugin configuration and sets the routes to all other nodes.
func apply(lister listers.NodeLister, name, dir string) error {
	nodes, err := lister.List(labels.Everything())
	if err != nil {
		return err
	}
	var own *corev1.Node
	wanted := map[string]string{}
	for _, node := range nodes {
		if node.Name == name {
			own = node
			continue
		}
		if address := internalIP(node); address != "" && node.Spec.PodCIDR != "" {
			wanted[node.Spec.PodCIDR] = address
		}
	}
	if err := setRoutes(wanted); err != nil {
		return err
	}
	if own == nil || own.Spec.PodCIDR == "" {
		return fmt.Errorf("node %s has no podCIDR yet", name)
	}
	return writeConfig(dir, own.Spec.PodCIDR)
}

// internalIP returns the address of the node on the network that all nodes share.
func internalIP(node *corev1.Node) string {
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			return address.Address
		}
	}
	return ""
}
