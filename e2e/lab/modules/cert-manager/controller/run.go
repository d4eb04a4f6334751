package main

import (
	"context"
	"fmt"
	"net"

	"golang.org/x/sync/errgroup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cert-manager/cert-manager/internal/kube"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/util"
)

// workers is how many objects each controller works on at once: upstream's default.
const workers = 5

// run runs the controllers until ctx ends, or until another instance holds the lease.
func run(ctx context.Context, s *settings) error {
	factory, err := controller.NewContextFactory(ctx, s.ContextOptions)
	if err != nil {
		return fmt.Errorf("connect to the API server: %w", err)
	}
	shared, err := factory.Build()
	if err != nil {
		return fmt.Errorf("make the API clients: %w", err)
	}
	lead, err := newManager(s)
	if err != nil {
		return err
	}
	if err := serveMetrics(ctx, lead, shared, s.metrics); err != nil {
		return err
	}
	if err := lead.Add(manager.RunnableFunc(
		func(ctx context.Context) error { return control(ctx, factory, shared) })); err != nil {
		return fmt.Errorf("add the controllers: %w", err)
	}
	return lead.Start(ctx)
}

// newManager returns a manager that only holds the lease and tells that the program lives.
func newManager(s *settings) (manager.Manager, error) {
	rest, err := kube.BuildClientConfig(s.APIServerHost, s.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	lead, err := ctrl.NewManager(util.RestConfigWithUserAgent(rest, "leader-election"), ctrl.Options{
		Metrics:                       metricsserver.Options{BindAddress: "0"}, // cert-manager has its own
		HealthProbeBindAddress:        s.health,
		LivenessEndpointName:          "/livez", // the path in the manifest's probe
		LeaderElection:                *s.election.Enabled,
		LeaderElectionNamespace:       s.election.Namespace,
		LeaderElectionID:              "cert-manager-controller", // the name in the manifest's Role
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &s.election.LeaseDuration.Duration.Duration,
		RenewDeadline:                 &s.election.RenewDeadline.Duration.Duration,
		RetryPeriod:                   &s.election.RetryPeriod.Duration.Duration,
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	return lead, lead.AddHealthzCheck("ping", healthz.Ping)
}

// serveMetrics adds cert-manager's metrics server, which runs without the lease, too.
func serveMetrics(ctx context.Context, lead manager.Manager, shared *controller.Context, address string) error {
	objects := shared.SharedInformerFactory.Certmanager().V1()
	shared.Metrics.SetupCertificateCollector(objects.Certificates().Lister())
	shared.Metrics.SetupIssuerCollector(objects.Issuers().Lister())
	shared.Metrics.SetupClusterIssuerCollector(objects.ClusterIssuers().Lister())
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for metrics: %w", err)
	}
	return lead.Add(&manager.Server{Name: "metrics", Server: shared.Metrics.NewServer(listener), Listener: listener})
}

// control makes and runs all controllers that are linked in, as upstream enables them all by default.
func control(ctx context.Context, factory *controller.ContextFactory, shared *controller.Context) error {
	made := map[string]controller.Interface{}
	for name, construct := range controller.Known() {
		var err error
		if made[name], err = construct(factory); err != nil {
			return fmt.Errorf("make controller %s: %w", name, err)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for name, one := range made {
		group.Go(func() error {
			if err := one.Run(workers, ctx); err != nil {
				return fmt.Errorf("run controller %s: %w", name, err)
			}
			return nil
		})
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	return group.Wait()
}
