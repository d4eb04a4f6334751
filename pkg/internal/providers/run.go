//go:build capa

package providers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// Options says how managers run.
type Options struct {
	Folder string   // for what they mount; it is not removed
	Env    []string // added to the variables of each: NAME=VALUE
	Args   map[string][]string
}

// Running are managers that run.
type Running struct{ managers []*manager }

// Run applies objects of components to the cluster and runs the managers of their Deployments as processes, until they
// are stopped. Certificates are its own: those of cert-manager, and the Services before the webhooks, are not needed.
func Run(ctx context.Context, cluster *kube.Cluster, objects []*unstructured.Unstructured, options Options) (
	*Running, error) {
	serving, err := newCertificate()
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	p := place{binaries: os.Getenv(apiserver.BinariesVariable), folder: options.Folder, kubeconfig: cluster.Kubeconfig,
		serving: serving,
		secrets: map[string]map[string]any{}, env: options.Env}
	for _, object := range objects {
		if object.GetKind() == "Secret" {
			p.secrets[object.GetNamespace()+"/"+object.GetName()], _, _ = unstructured.NestedMap(object.Object, "data")
		}
	}
	running := &Running{}
	ports := map[string]int{}
	var applied []*unstructured.Unstructured
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment":
			p.args = options.Args[object.GetName()]
			m, err := newManager(object, p)
			if err != nil {
				return nil, err
			}
			running.managers = append(running.managers, m)
			ports[object.GetNamespace()] = m.webhook
		case "Certificate", "Issuer", "Service":
		default:
			applied = append(applied, object.DeepCopy())
		}
	}
	for _, object := range applied {
		if err := aim(object, ports, serving.certificate); err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	if err := flux.Install(ctx, cluster, applied); err != nil {
		return nil, err
	}
	for _, m := range running.managers {
		if err := m.start(ctx); err != nil {
			running.Stop()
			return nil, err
		}
	}
	return running, nil
}

// Stop ends all managers and waits for their end.
func (r *Running) Stop() {
	for _, m := range r.managers {
		m.stop()
	}
}

// Output returns the end of what the manager of a Deployment wrote so far.
func (r *Running) Output(deployment string) string {
	for _, m := range r.managers {
		if m.name == deployment {
			return m.output.String()
		}
	}
	return ""
}

// freePorts returns ports of the loopback address without a listener.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, l.Close()) }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
