package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubernetesscheme "k8s.io/client-go/kubernetes/scheme"
	apireg "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	config "github.com/cert-manager/cert-manager/internal/apis/config/cainjector"
	"github.com/cert-manager/cert-manager/internal/kube"
	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/util"
)

// run injects until ctx ends, or until another instance holds the lease.
func run(ctx context.Context, settings *config.CAInjectorConfiguration) error {
	rest, err := kube.BuildClientConfig("", settings.KubeConfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	types := runtime.NewSchemeBuilder(kubernetesscheme.AddToScheme, cmapi.AddToScheme, apiext.AddToScheme,
		apireg.AddToScheme)
	if err := types.AddToScheme(scheme); err != nil {
		return fmt.Errorf("register types: %w", err)
	}
	election := settings.LeaderElectionConfig
	manager, err := ctrl.NewManager(util.RestConfigWithUserAgent(rest, "cainjector"), ctrl.Options{
		Scheme: scheme,
		// Only the metadata of Secrets is watched; the few whose data is needed are read.
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics:                       metricsserver.Options{BindAddress: settings.MetricsListenAddress},
		LeaderElection:                election.Enabled,
		LeaderElectionNamespace:       election.Namespace,
		LeaderElectionID:              "cert-manager-cainjector-leader-election", // the name in the manifest's Role
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &election.LeaseDuration,
		RenewDeadline:                 &election.RenewDeadline,
		RetryPeriod:                   &election.RetryPeriod,
	})
	if err != nil {
		return fmt.Errorf("make the manager: %w", err)
	}
	injectable := settings.EnableInjectableConfig
	err = cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		Namespace: settings.Namespace, IgnoreNamespaces: settings.IgnoreNamespaces,
		EnableCertificatesDataSource: settings.EnableDataSourceConfig.Certificates,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   injectable.MutatingWebhookConfigurations,
			cainjector.ValidatingWebhookConfigurationName: injectable.ValidatingWebhookConfigurations,
			cainjector.APIServiceName:                     injectable.APIServices,
			cainjector.CustomResourceDefinitionName:       injectable.CustomResourceDefinitions,
		},
	})
	if err != nil {
		return fmt.Errorf("register the injectors: %w", err)
	}
	return manager.Start(ctx)
}
