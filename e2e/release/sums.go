package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

const (
	maxProgram     = 256 << 20 // bytes, far above the largest program
	programTimeout = 10 * time.Minute
)

func newSums() *cobra.Command {
	return &cobra.Command{
		Use:   "sums [FOLDER]",
		Short: "Pin release files of components, and the files of Kubernetes for stock images",
		Long: `FOLDER is a repository with content. Fetch each release file that a kustomization below
FOLDER/kustomize-components names, and Flux's. Write their SHA-256 digests to FOLDER/kustomize-components/sums.txt.
Compare new digests with those that the publishers state before you commit them.

Then fetch the files that machineadm installs on a stock image, for the chart's default version of Kubernetes. Write
their addresses and digests to FOLDER/charts/telco-cloud-init/kubernetes-files.json. A file is refused unless its
publisher states the same digest. Other versions in that file stay.

A file that is pinned already must still have its digest: if its release was changed for a good reason, remove its
digest first. This needs internet.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			root := "."
			if len(args) > 0 {
				root = args[0]
			}
			pinned, err := content.ReadSums(os.DirFS(root))
			if err != nil {
				return err
			}
			// Without the user's cache: what is pinned is what the publisher serves now.
			fetcher := content.NewHTTPFetcher(content.Proxies{}, pinned)
			fetcher.CacheDir = ""
			if err := writeSums(c.Context(), root, fetcher); err != nil {
				return err
			}
			programs := content.NewHTTPFetcher(content.Proxies{}, nil)
			programs.CacheDir, programs.AnyForm = "", true
			programs.Limit, programs.Timeout = maxProgram, programTimeout
			return writeKubernetesFiles(c.Context(), root, programs)
		},
	}
}

// writeSums writes the digests of what fetch returns for each release file of root. The comments of the file stay.
func writeSums(ctx context.Context, root string, fetch content.Fetcher) error {
	urls, err := releaseFiles(ctx, root)
	if err != nil {
		return err
	}
	sums := content.Sums{}
	for _, address := range urls {
		data, err := fetch.Fetch(ctx, address)
		if err != nil {
			return err
		}
		sums[address] = content.Sum(data)
	}
	file := filepath.Join(root, filepath.FromSlash(content.SumsFile))
	before, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	var text bytes.Buffer
	for line := range bytes.Lines(before) {
		if bytes.HasPrefix(line, []byte("#")) {
			text.Write(line)
		}
	}
	text.Write(sums.Text())
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the digests: %w", err)
	}
	return nil
}

// releaseFiles lists what all components of root name, and Flux's manifests, sorted.
func releaseFiles(ctx context.Context, root string) ([]string, error) {
	tree, err := content.Components(os.DirFS(root), nil)
	if err != nil {
		return nil, err
	}
	urls, err := content.RemoteFiles(ctx, tree, tree.Kustomizations())
	if err != nil {
		return nil, err
	}
	urls = append(urls, flux.ManifestsURL)
	slices.Sort(urls)
	return slices.Compact(urls), nil
}
