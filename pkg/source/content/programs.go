package content

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

const (
	programsPath    = "cluster-init/kubernetes" // below the target
	programsConfig  = "application/vnd.cluster-init.kubernetes.config.v1+json"
	programsContent = "application/octet-stream"
)

// Programs are the files of a version of Kubernetes that machines install when they boot.
type Programs struct {
	Version string
	Files   []machineadm.KubernetesFile
	Proxy   *machineadm.Proxy // of the computer that publishes them; nil means none
	Fetcher machineadm.Fetcher
}

// PublishPrograms pushes programs, each as an artifact of its own, into one repository below the target. Machines fetch
// them from there by digest: see ProgramsAddress. It does not fetch what is there already. An empty arch means all
// architectures. A file that cannot be fetched is a fault SourceUnreadable.
func PublishPrograms(ctx context.Context, target oci.Target, p Programs, arch string) error {
	folder, err := os.MkdirTemp("", "cluster-init-programs-")
	if err != nil {
		return fmt.Errorf("publish the files of Kubernetes: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for i, file := range p.Files {
		for _, of := range slices.Sorted(maps.Keys(file.Sources)) {
			if arch != "" && of != arch {
				continue
			}
			tag := fmt.Sprintf("%s-%d-%s-%s", p.Version, i, path.Base(file.Path), of)
			source := file.Sources[of]
			there, err := target.HasLayer(ctx, programsPath, tag, "sha256:"+source.SHA256)
			if err == nil && !there {
				err = publishProgram(ctx, target, tag, source, func() (string, error) {
					return p.Fetcher.Fetch(ctx, p.Proxy, source, folder)
				})
			}
			if err != nil {
				return fmt.Errorf("publish %s: %w", file.Path, err)
			}
		}
	}
	return nil
}

// publishProgram pushes what fetch returns the path of.
func publishProgram(ctx context.Context, target oci.Target, tag string, source machineadm.Source,
	fetch func() (string, error)) error {
	fetched, err := fetch()
	if errors.Is(err, machineadm.ErrDigest) {
		return fault.Wrap(err, fault.SourceUnreadable, hintChanged)
	}
	if err != nil {
		return oci.Unreadable(err)
	}
	content, err := os.ReadFile(fetched)
	if err != nil {
		return err
	}
	artifact, err := oci.NewArtifact([]byte("{}"), content, programsConfig, programsContent, nil)
	if err != nil {
		return err
	}
	if _, err := target.Push(ctx, programsPath, tag, artifact); err != nil {
		return err
	}
	return os.Remove(fetched)
}

// ProgramsAddress returns where machines find the programs that PublishPrograms pushed below a prefix: the value
// cluster.kubernetes_mirror.
func ProgramsAddress(prefix string, insecure bool) (string, error) {
	repo, err := oci.Target{Prefix: prefix, Insecure: insecure}.Repository(programsPath)
	if err != nil {
		return "", err
	}
	scheme := "https"
	if insecure {
		scheme = "http"
	}
	return scheme + "://" + repo.RegistryStr() + "/v2/" + repo.RepositoryStr() + "/blobs", nil
}
