package manifest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
)

// certManagerKubernetes is the version of Kubernetes that cert-manager's static manifest is rendered for.
const certManagerKubernetes = "v1.29.0"

// CertManager renders cert-manager.yaml as make/manifests.mk does: the namespace, then the chart with its CRDs.
// deploy is the module's deploy folder.
func CertManager(deploy, version, url string) (Manifest, error) {
	namespace, err := os.ReadFile(filepath.Join(deploy, "manifests", "namespace.yaml"))
	if err != nil {
		return Manifest{}, fmt.Errorf("read cert-manager's manifests: %w", err)
	}
	loaded, err := loader.LoadDir(filepath.Join(deploy, "charts", "cert-manager"))
	if err != nil {
		return Manifest{}, fmt.Errorf("load cert-manager's chart: %w", err)
	}
	// The release sets both when it packages the chart.
	loaded.Metadata.Version, loaded.Metadata.AppVersion = version, version
	rendered, err := renderChart(loaded)
	return Manifest{URL: url, Content: append(append(bytes.TrimSpace(namespace), '\n'), rendered...)}, err
}

// renderChart renders a chart with the values of the static release.
func renderChart(loaded *chart.Chart) ([]byte, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	kubernetes, err := chartutil.ParseKubeVersion(certManagerKubernetes)
	if err != nil {
		return nil, fmt.Errorf("read the version of Kubernetes: %w", err)
	}
	capabilities.KubeVersion = *kubernetes
	values, err := chartutil.ToRenderValues(loaded, map[string]any{
		"crds": map[string]any{"enabled": true}, "creator": "static",
		"startupapicheck": map[string]any{"enabled": false},
	}, chartutil.ReleaseOptions{Name: "cert-manager", Namespace: "cert-manager", Revision: 1, IsInstall: true},
		capabilities)
	if err != nil {
		return nil, fmt.Errorf("prepare cert-manager's values: %w", err)
	}
	files, err := engine.Render(loaded, values)
	if err != nil {
		return nil, fmt.Errorf("render cert-manager's chart: %w", err)
	}
	for name := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, fmt.Errorf("sort cert-manager's manifests: %w", err)
	}
	if len(hooks) > 0 {
		return nil, fmt.Errorf("cert-manager's chart has hooks, which a static manifest cannot have: %s", hooks[0].Path)
	}
	var out bytes.Buffer
	for _, manifest := range manifests {
		fmt.Fprintf(&out, "---\n%s\n", strings.TrimPrefix(strings.TrimSpace(manifest.Content), "---\n"))
	}
	return out.Bytes(), nil
}
