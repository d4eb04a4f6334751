//go:build bench

package bench

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/registry"
)

// floor does what no way of building the management cluster can do without, and nothing else: no Flux, no check that
// something is ready unless the next step would fail without it. All manifests are rendered before the clock runs.
type floor struct {
	binary                string // for the registry
	env                   *environment.Environment
	bundle                *bundle.Bundle
	images                []string // without those of Flux
	mirrors               []oci.Mirror
	bootstrap, management manifests
	docker                *docker.Client
	kind                  *kind.Provider

	temporary, target *kube.Cluster // the clusters, once they are there
	steps             []timed
	log               func(string, ...any)
}

func newFloor(t *testing.T, binary string, b *bundle.Bundle) *floor {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: environmentName, Content: clusterinit.Content(),
		Variables: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	f := &floor{binary: binary, bundle: b, docker: &docker.Client{}, kind: kind.New(func(string) {}), log: t.Logf}
	all := b.References(bundle.LoadRegistry)
	f.images = slices.DeleteFunc(slices.Clone(all),
		func(reference string) bool { return strings.Contains(reference, "/fluxcd/") })
	if f.mirrors, err = oci.BundleMirrors(registry.Host(env.ClusterName()), all); err != nil {
		t.Fatal(err)
	}
	if f.env, err = env.WithOverrides(overrides(b, f.mirrors)); err != nil {
		t.Fatal(err)
	}
	if f.bootstrap, err = renderManifests(t.Context(), f.env, b, environment.Bootstrap); err != nil {
		t.Fatal(err)
	}
	if f.management, err = renderManifests(t.Context(), f.env, b, environment.Management); err != nil {
		t.Fatal(err)
	}
	return f
}

// overrides are the values that `up --bundle` sets, see pkg/cli: the machines of both must be the same.
func overrides(b *bundle.Bundle, mirrors []oci.Mirror) map[string]any {
	var list []any
	for _, m := range mirrors {
		list = append(list, map[string]any{"host": m.Host, "url": m.URL, "override_path": m.OverridePath})
	}
	cluster := map[string]any{"image": b.Index.NodeImage, "kubernetes_version": b.Index.KubernetesVersion,
		"registry_mirrors": list}
	values := map[string]any{}
	for key, value := range b.Index.Values {
		values[key] = value
	}
	if own, ok := values["cluster"].(map[string]any); ok {
		for key, value := range own {
			cluster[key] = value
		}
	}
	values["cluster"] = cluster
	return values
}

// run does all steps and keeps the time of each; it ends at the first that fails.
func (f *floor) run(ctx context.Context) error {
	for _, step := range []struct {
		name, note string
		do         func(context.Context) error
	}{
		{"registry", "started and filled with the images", f.startRegistry},
		{"kind cluster", "API server answers", f.createKind},
		{"providers", "cert-manager, then CAPI, CABPK, KCP and CAPD; until the cluster definition is accepted",
			f.defineCluster},
		{"control plane", "until its API server answers", f.awaitControlPlane},
		{"management cluster", "CNI, cert-manager and the providers, until all are ready", f.installProviders},
		{"machines", "what is left until clusterctl would move", f.awaitMovable},
		{"move", "", f.move},
		{"delete kind cluster", "", f.deleteKind},
	} {
		start := time.Now()
		err := step.do(ctx)
		f.steps = append(f.steps, timed{name: step.name, elapsed: time.Since(start), note: step.note})
		f.log("floor: %-20s %6.1f s", step.name, time.Since(start).Seconds())
		if err != nil {
			return err
		}
	}
	return nil
}
