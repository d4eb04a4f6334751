// Command cainjector writes the authorities of Certificates and Secrets into the webhook configurations, CRDs and
// APIServices that are annotated to get them.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/cert-manager/cert-manager/cmd/lab/start"
	config "github.com/cert-manager/cert-manager/internal/apis/config/cainjector"
	configscheme "github.com/cert-manager/cert-manager/internal/apis/config/cainjector/scheme"
	configv1alpha1 "github.com/cert-manager/cert-manager/pkg/apis/config/cainjector/v1alpha1"
	logf "github.com/cert-manager/cert-manager/pkg/logs"
)

func main() {
	settings, err := defaults()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cainjector: set defaults:", err)
		os.Exit(1)
	}
	flags := pflag.NewFlagSet("cainjector", pflag.ContinueOnError)
	flags.StringVar(&settings.KubeConfig, "kubeconfig", settings.KubeConfig,
		"kubeconfig of the cluster; that of the pod when empty")
	flags.StringVar(&settings.LeaderElectionConfig.Namespace, "leader-election-namespace",
		settings.LeaderElectionConfig.Namespace, "namespace of the lease")
	flags.StringVar(&settings.MetricsListenAddress, "metrics-listen-address", settings.MetricsListenAddress,
		"address that metrics are served at")
	logf.AddFlagsNonDeprecated(&settings.Logging, flags)
	start.Main(flags, &settings.Logging, func(ctx context.Context) error { return run(ctx, settings) })
}

// defaults returns upstream's defaults.
func defaults() (*config.CAInjectorConfiguration, error) {
	scheme, _, err := configscheme.NewSchemeAndCodecs()
	if err != nil {
		return nil, err
	}
	versioned, settings := &configv1alpha1.CAInjectorConfiguration{}, &config.CAInjectorConfiguration{}
	scheme.Default(versioned)
	return settings, scheme.Convert(versioned, settings, nil)
}
