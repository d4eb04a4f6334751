package environment_test

import (
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// An existing cluster gets the providers, and nothing that is about machines of its own.
func TestComponentsOfAnInstalledCluster(t *testing.T) {
	for name, options := range everyEnvironment(t) {
		t.Run(name, func(t *testing.T) {
			options.Sets = []string{"components.backup.enabled=false"} // it is refused, see below
			built := load(t, options)
			later, err := built.AsInstalled()
			if err != nil {
				t.Fatal(err)
			}
			options.Installed = true
			for _, env := range []*environment.Environment{load(t, options), later} {
				components, err := env.Components(environment.Management)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, c := range components {
					names = append(names, c.Name)
				}
				for _, off := range []string{"cluster", "cni", "cloud-provider", "cinder-csi"} {
					if slices.Contains(names, off) {
						t.Errorf("it has the component %s", off)
					}
				}
				for _, on := range append(env.Providers(), "cert-manager") {
					if !slices.Contains(names, on) {
						t.Errorf("it lacks the component %s", on)
					}
				}
				if !env.Installed() || built.Installed() {
					t.Error("it is not known which of them is installed")
				}
			}
		})
	}
}

// An existing cluster may lack the pod network that the chart brings, and has no definition.
func TestRefusedInstalledEnvironments(t *testing.T) {
	for set, says := range map[string]string{
		"components.cluster.enabled=true":       "an existing cluster has no definition of its own",
		"components.cert-manager.enabled=false": "cert-manager",
		"components.backup.enabled=true":        "an existing cluster has no definition of its own that could be backed up",
		"components.cni.enabled=true":           "",
	} {
		_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
			Content: clusterinit.Content(), Installed: true, Sets: []string{set},
			Variables: func(string) (string, bool) { return "", false }})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", set, err, says)
		}
	}
}

func TestServerVersions(t *testing.T) {
	for served, want := range map[string]fault.Code{"v1.33.0": "", "v1.36.4+k3s1": "", "v1.34.1-gke.100": "",
		"v1.37.2+rke2r1": "", "v1.32.9": fault.ClusterFailed, "v1.38.0": fault.ClusterFailed, "v2.0.0": fault.ClusterFailed,
		"": fault.Unknown} {
		err := environment.CheckServerVersion(served)
		if want == "" && err != nil || want != "" && (err == nil || fault.CodeOf(err) != want) {
			t.Errorf("%q: %v, want %q", served, err, want)
		}
	}
}
