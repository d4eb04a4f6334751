// Command controller issues certificates: it is cert-manager's controller with the issuers SelfSigned and CA.
package main

import (
	"context"
	"time"

	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/cert-manager/cert-manager/cmd/lab/start"
	electiondefaults "github.com/cert-manager/cert-manager/internal/apis/config/shared/v1alpha1"
	election "github.com/cert-manager/cert-manager/pkg/apis/config/shared/v1alpha1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

// settings are what the flags change, and what the manager needs besides.
type settings struct {
	controller.ContextOptions
	election        election.LeaderElectionConfig
	metrics, health string // addresses
}

func main() {
	s := defaults()
	logging := logsapi.NewLoggingConfiguration()
	flags := pflag.NewFlagSet("controller", pflag.ContinueOnError)
	flags.StringVar(&s.Kubeconfig, "kubeconfig", s.Kubeconfig, "kubeconfig of the cluster; that of the pod when empty")
	flags.StringVar(&s.ClusterResourceNamespace, "cluster-resource-namespace", s.ClusterResourceNamespace,
		"namespace of what ClusterIssuers refer to")
	flags.StringVar(&s.election.Namespace, "leader-election-namespace", s.election.Namespace, "namespace of the lease")
	flags.StringVar(&s.metrics, "metrics-listen-address", s.metrics, "address that metrics are served at")
	flags.StringVar(&s.health, "healthz-listen-address", s.health, "address that probes are answered at")
	flags.StringVar(&s.HTTP01SolverImage, "acme-http01-solver-image", "",
		"without effect: ACME is not part of this program")
	flags.IntVar(&s.MaxConcurrentChallenges, "max-concurrent-challenges", 60,
		"without effect: ACME is not part of this program")
	logf.AddFlagsNonDeprecated(logging, flags)
	start.Main(flags, logging, func(ctx context.Context) error { return run(ctx, s) })
}

// defaults are those of upstream's configuration, whose package imports all issuers and thus their SDKs.
func defaults() *settings {
	s := &settings{metrics: "0.0.0.0:9402", health: "0.0.0.0:9403"}
	s.KubernetesAPIQPS, s.KubernetesAPIBurst = 20, 50
	s.ClusterResourceNamespace = "kube-system"
	s.ClusterIssuerAmbientCredentials = true
	s.CopiedAnnotationPrefixes = []string{"*", "-kubectl.kubernetes.io/", "-fluxcd.io/", "-argocd.argoproj.io/"}
	s.CertificateRequestMinimumBackoffDuration, s.CertificateRequestMaximumBackoffDuration = time.Hour, 32*time.Hour
	electiondefaults.SetDefaults_LeaderElectionConfig(&s.election)
	return s
}
