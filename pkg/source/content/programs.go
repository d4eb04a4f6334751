package content

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
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

// Programs are the files of Kubernetes that machines install when they boot.
type Programs struct {
	Files   []machineadm.KubernetesFile
	Proxy   *machineadm.Proxy // of the computer that publishes them; nil means none
	Fetcher machineadm.Fetcher
	// Fetching, if any, is called with the path of each file that is fetched.
	Fetching func(path string)
}

// hintNotFetched is the hint for a file that cannot be fetched.
const hintNotFetched = "Check the address, and that this machine reaches it, through the proxies of the environment. " +
	"A bundle does not have these files: without internet access, serve them yourself, or give " +
	"cluster.kubernetes_mirror."

// PublishPrograms pushes programs, each as an artifact of its own, into one repository below the target. Machines fetch
// them from there by digest: see ProgramsAddress. It does not fetch what is there already. An empty arch means all
// architectures; a file without a source for another one is a fault ValuesInvalid, and a file that cannot be fetched a
// fault SourceUnreadable.
func PublishPrograms(ctx context.Context, target oci.Target, p Programs, arch string) error {
	folder, err := os.MkdirTemp("", "cluster-init-programs-")
	if err != nil {
		return fmt.Errorf("publish the files of Kubernetes: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	for _, file := range p.Files {
		if _, has := file.Sources[arch]; arch != "" && !has {
			return fault.New(fault.ValuesInvalid,
				fmt.Sprintf("%s has no source for %s, the architecture of the machines", file.Path, arch),
				"Give it in cluster.kubernetes_files.")
		}
		for _, of := range slices.Sorted(maps.Keys(file.Sources)) {
			if arch != "" && of != arch {
				continue
			}
			if err := publishProgram(ctx, target, p, file.Path, file.Sources[of], folder); err != nil {
				return fmt.Errorf("publish %s: %w", file.Path, err)
			}
		}
	}
	return nil
}

// publishProgram pushes a file unless the registry has it. folder is for what it fetches.
func publishProgram(ctx context.Context, target oci.Target, p Programs, path string, source machineadm.Source,
	folder string) error {
	tag := "sha256-" + source.SHA256
	there, err := target.HasLayer(ctx, programsPath, tag, "sha256:"+source.SHA256)
	if err != nil || there {
		return err
	}
	if p.Fetching != nil {
		p.Fetching(path)
	}
	fetched, err := p.Fetcher.Fetch(ctx, p.Proxy, source, folder)
	if errors.Is(err, machineadm.ErrDigest) {
		return fault.Wrap(err, fault.SourceUnreadable, hintChanged)
	}
	if err != nil {
		return fault.Retryable(err, fault.SourceUnreadable, hintNotFetched)
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
