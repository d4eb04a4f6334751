//go:build capa

// Package providers runs Cluster API and its providers in front of a real API server as a cluster would, but without a
// machine: what a component renders is applied, and the managers of its Deployments run as processes of the test, with
// the flags, variables and Secrets that their Deployments give them.
package providers

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/manifest"
)

// Releases are the manifests of Cluster API and of its provider for AWS, by the address where others fetch them. They
// are rendered from the modules that the lab pins.
type Releases map[string][]byte

// Fetch returns the manifest of that address.
func (r Releases) Fetch(_ context.Context, url string) ([]byte, error) {
	content, found := r[url]
	if !found {
		return nil, fmt.Errorf("%s is not what the lab pins", url)
	}
	return content, nil
}

// Render renders them.
func Render(ctx context.Context) (Releases, error) {
	const clusterAPI = "https://github.com/kubernetes-sigs/cluster-api/releases/download/"
	const aws = "https://github.com/kubernetes-sigs/cluster-api-provider-aws/releases/download/"
	releases := Releases{}
	for _, each := range []struct{ module, path, config, image, url, file string }{
		{"cluster-api", "sigs.k8s.io/cluster-api", "core/config", "registry.k8s.io/cluster-api/cluster-api-controller", clusterAPI, "core-components.yaml"},
		{"cluster-api", "sigs.k8s.io/cluster-api", "bootstrap/kubeadm/config", "registry.k8s.io/cluster-api/kubeadm-bootstrap-controller", clusterAPI, "bootstrap-components.yaml"},
		{"cluster-api", "sigs.k8s.io/cluster-api", "controlplane/kubeadm/config", "registry.k8s.io/cluster-api/kubeadm-control-plane-controller", clusterAPI, "control-plane-components.yaml"},
		{"cluster-api-provider-aws", "sigs.k8s.io/cluster-api-provider-aws/v2", "config", "registry.k8s.io/cluster-api-aws/cluster-api-aws-controller", aws, "infrastructure-components.yaml"},
	} {
		dir, err := moduleDir(ctx, each.module)
		if err != nil {
			return nil, err
		}
		source, err := golang.Source(ctx, dir, each.path)
		if err != nil {
			return nil, err
		}
		version, err := golang.Version(filepath.Join(dir, "go.mod"), each.path)
		if err != nil {
			return nil, err
		}
		url := each.url + version + "/" + each.file
		made, err := manifest.ClusterAPI(filepath.Join(source, filepath.FromSlash(each.config)), each.image+":"+version, url)
		if err != nil {
			return nil, err
		}
		releases[url] = made.Content
	}
	return releases, nil
}

// moduleDir returns the folder of one of the lab's build modules.
func moduleDir(ctx context.Context, name string) (string, error) {
	out, err := host.Run(ctx, host.Command{Name: "go", Args: []string{"env", "GOMOD"}})
	if err != nil {
		return "", err
	}
	return golang.Module{Name: name}.Dir(filepath.Dir(strings.TrimSpace(out))), nil
}
