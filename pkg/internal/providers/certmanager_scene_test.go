//go:build integration && capa

package providers

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// certManagerScene is a cluster in which cert-manager runs.
type certManagerScene struct {
	ctx      context.Context
	t        *testing.T
	cluster  *kube.Cluster
	programs map[string]*program
	live     string // address of the controller's liveness probe
}

// startCertManager applies cert-manager's manifest and starts the programs of its Deployments. In place of a Service,
// the API server calls the webhook's port on this machine.
func startCertManager(ctx context.Context, t *testing.T) *certManagerScene {
	t.Helper()
	server, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	s := &certManagerScene{ctx: ctx, t: t, programs: map[string]*program{}}
	if s.cluster, err = kube.Connect("cert-manager", server.Kubeconfig(), clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	ports, err := freePorts(5)
	if err != nil {
		t.Fatal(err)
	}
	s.live = fmt.Sprintf("http://127.0.0.1:%d/livez", ports[2])
	applied := objects(t, certManagerManifest(t))
	for _, object := range applied {
		callLocalhost(object, ports[0])
	}
	if err := flux.Install(ctx, s.cluster, applied); err != nil {
		t.Fatal(err)
	}
	args := map[string][]string{
		"cert-manager": {fmt.Sprintf("--metrics-listen-address=127.0.0.1:%d", ports[1]),
			fmt.Sprintf("--healthz-listen-address=127.0.0.1:%d", ports[2])},
		"cert-manager-webhook": {fmt.Sprintf("--secure-port=%d", ports[0]), fmt.Sprintf("--healthz-port=%d", ports[3]),
			"--metrics-listen-address=0", "--dynamic-serving-dns-names=localhost"},
		"cert-manager-cainjector": {fmt.Sprintf("--metrics-listen-address=127.0.0.1:%d", ports[4])},
	}
	for _, object := range applied {
		if object.GetKind() != "Deployment" {
			continue
		}
		deployment := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
			t.Fatal(err)
		}
		s.programs[deployment.Name] = startProgram(ctx, t, s.cluster, deployment, args[deployment.Name]...)
	}
	return s
}
