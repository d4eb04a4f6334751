package manifest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
)

// CertManager renders cert-manager.yaml as make/manifests.mk does: the namespace, then the chart with its CRDs.
// deploy is the module's deploy folder.
func CertManager(deploy, version, url string) (Manifest, error) {
	namespace, err := os.ReadFile(filepath.Join(deploy, "manifests", "namespace.yaml"))
	if err != nil {
		return Manifest{}, fmt.Errorf("read cert-manager's manifests: %w", err)
	}
	crds, err := crdTemplate(filepath.Join(deploy, "crds"))
	if err != nil {
		return Manifest{}, err
	}
	manifest := Manifest{URL: url}
	err = withCopy(filepath.Join(deploy, "charts", "cert-manager"), func(dir string) error {
		if err := finishChart(dir, version, crds); err != nil {
			return fmt.Errorf("finish cert-manager's chart: %w", err)
		}
		rendered, err := renderChart(dir)
		manifest.Content = append(append(bytes.TrimSpace(namespace), '\n'), rendered...)
		return err
	})
	return manifest, err
}

// crdTemplate joins the CRDs into the template that a released chart has.
func crdTemplate(dir string) ([]byte, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("{{- if .Values.installCRDs }}\n")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read cert-manager's CRDs: %w", err)
		}
		fmt.Fprintf(&out, "---\n%s\n", bytes.TrimSpace(content))
	}
	out.WriteString("{{- end }}\n")
	return out.Bytes(), nil
}

// finishChart adds what a released chart has and its source has not: Chart.yaml with the version, and the CRDs.
func finishChart(dir, version string, crds []byte) error {
	if err := os.WriteFile(filepath.Join(dir, "templates", "crds.yaml"), crds, 0o644); err != nil {
		return err
	}
	chart, err := os.ReadFile(filepath.Join(dir, "Chart.template.yaml"))
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(chart), "v0.1.0", version)
	return os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte(text), 0o644)
}

// renderChart renders a chart with the values of the static release.
func renderChart(dir string) ([]byte, error) {
	chart, err := loader.LoadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("load cert-manager's chart: %w", err)
	}
	values, err := chartutil.ToRenderValues(chart, map[string]any{
		"installCRDs": true, "creator": "static", "startupapicheck": map[string]any{"enabled": false},
	}, chartutil.ReleaseOptions{Name: "cert-manager", Namespace: "cert-manager", IsInstall: true}, chartutil.DefaultCapabilities.Copy())
	if err != nil {
		return nil, fmt.Errorf("prepare cert-manager's values: %w", err)
	}
	files, err := engine.Render(chart, values)
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
