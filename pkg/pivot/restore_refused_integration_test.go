//go:build integration

package pivot_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/internal/fixture"
	"github.com/cluster-init/cluster-init/pkg/restore"
)

// TestRestoreIsRefused: a real old cluster and a real target, and nothing is created in any of these.
func TestRestoreIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		kubeconfig string
		world      func(*savedStage)
		code       fault.Code
		want       string
	}{
		"the old cluster is active": {"", func(s *savedStage) { s.Force = true }, fault.RestoreRefused,
			"/mgmt (active)"},
		"the old cluster lost it, and its Flux runs": {"", func(s *savedStage) {
			s.lose()
			s.runFlux()
		}, fault.RestoreRefused, "helmrelease telco-cloud-init, kustomization cluster"},
		"the old cluster is silent": {silentKubeconfig(), func(*savedStage) {}, fault.RestoreRefused,
			"may still manage the machines"},
		"the target is the old one": {"",
			func(s *savedStage) { s.lose(); s.TargetKubeconfig = servers.source.Kubeconfig() }, fault.RestoreRefused,
			"the backup was taken from the target itself"},
		"the target is not empty": {silentKubeconfig(), func(s *savedStage) {
			s.Force = true
			u := fixture.One("Secret", "mgmt-ca")
			if err := fixture.Create(s.t.Context(), s.stage.Target.Client, s.Scope.Namespace, u,
				fixture.Set("Secret", "mgmt-ca", base64.StdEncoding.EncodeToString([]byte("another")), "data",
					"tls.crt")); err != nil {
				s.t.Fatal(err)
			}
		}, fault.RestoreRefused, "/mgmt-ca has another data"},
		"another provider version": {silentKubeconfig(), func(s *savedStage) {
			s.Force = true
			s.Backup.Manifest.Providers[0].Version = "v1.13.0"
		}, fault.BackupInvalid, "v1.13.0, and the target has v1.14.0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSavedStage(t, fixture.ManagementCluster(), tc.kubeconfig)
			tc.world(s)
			before := s.keys(s.stage.Target.Client)
			_, err := restore.Run(t.Context(), s.Input)
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s %q", err, tc.code, tc.want)
			}
			if after := s.keys(s.stage.Target.Client); len(after) != len(before) {
				t.Errorf("created: %v", after)
			}
		})
	}
}

// runFlux has the source have a release and a Kustomization that are not suspended.
func (s *savedStage) runFlux() {
	s.t.Helper()
	release, kustomization := fixture.CRDOf(fixture.ReleaseKind), fixture.CRDOf(fixture.KustomizationKind)
	for _, crd := range []*apiextensionsv1.CustomResourceDefinition{release, kustomization} {
		keep := true
		crd.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}}
	}
	options := envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{release, kustomization}}
	if _, err := envtest.InstallCRDs(servers.source.Config, options); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { // the other tests have no Flux
		if err := envtest.UninstallCRDs(servers.source.Config, options); err != nil {
			s.t.Error(err)
		}
		for _, crd := range options.CRDs { // a backup fails on a kind that is defined, and not served any more
			if err := apiserver.AwaitGone(context.WithoutCancel(s.t.Context()), s.Source.Client, crd.Name); err != nil {
				s.t.Error(err)
			}
		}
	})
	if err := fixture.Create(s.t.Context(), s.Source.Client, "flux-system",
		[]*unstructured.Unstructured{fixture.FluxObject(0, false), fixture.FluxObject(1, false)}); err != nil {
		s.t.Fatal(err)
	}
}
