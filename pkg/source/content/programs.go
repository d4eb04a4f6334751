package content

import (
	"context"
	"fmt"
	"os"
	"path"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

const (
	programsPath    = "cluster-init/kubernetes" // below the target
	programsConfig  = "application/vnd.cluster-init.kubernetes.config.v1+json"
	programsContent = "application/octet-stream"
)

// PublishPrograms pushes files that machines install, each as an artifact of its own, into one repository below the
// target, and returns that repository. Machines fetch them from there by digest. What is there already is skipped.
func PublishPrograms(ctx context.Context, target oci.Target, version string, files []machineadm.KubernetesFile,
	fetcher machineadm.Fetcher, proxy *machineadm.Proxy) (repository string, err error) {
	folder, err := os.MkdirTemp("", "cluster-init-programs-")
	if err != nil {
		return "", fmt.Errorf("publish the files of Kubernetes: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for i, file := range files {
		for arch, source := range file.Sources {
			fetched, err := fetcher.Fetch(ctx, proxy, source, folder)
			if err != nil {
				return "", oci.Unreadable(fmt.Errorf("publish %s: %w", file.Path, err))
			}
			content, err := os.ReadFile(fetched)
			if err != nil {
				return "", fmt.Errorf("publish %s: %w", file.Path, err)
			}
			artifact, err := oci.NewArtifact([]byte("{}"), content, programsConfig, programsContent, nil)
			if err != nil {
				return "", fmt.Errorf("publish %s: %w", file.Path, err)
			}
			tag := fmt.Sprintf("%s-%d-%s-%s", version, i, path.Base(file.Path), arch)
			pushed, err := target.Push(ctx, programsPath, tag, artifact)
			if err != nil {
				return "", err
			}
			repository = pushed.Repository
			if err := os.Remove(fetched); err != nil {
				return "", fmt.Errorf("publish %s: %w", file.Path, err)
			}
		}
	}
	return repository, nil
}
