package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cluster-init/cluster-init/pkg/source/content"
)

func newPinned() *cobra.Command {
	return &cobra.Command{
		Use:   "pinned [FOLDER]",
		Short: "Fail unless each release file that the components of FOLDER name has a digest",
		Long: `Compare the release files that a kustomization below FOLDER/kustomize-components names, and Flux's, with
FOLDER/kustomize-components/sums.txt. It fetches nothing.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			root := "."
			if len(args) > 0 {
				root = args[0]
			}
			return checkPinned(c.Context(), root)
		},
	}
}

// checkPinned names the release files of root that no digest vouches for.
func checkPinned(ctx context.Context, root string) error {
	sums, err := content.ReadSums(os.DirFS(root))
	if err != nil {
		return err
	}
	urls, err := releaseFiles(ctx, root)
	if err != nil {
		return err
	}
	if unpinned := sums.Unpinned(urls); len(unpinned) > 0 {
		return fmt.Errorf("%d of %d release files are not pinned by a digest:\n  %s\n"+
			"Run `make sums` with internet. For a private snapshot, run `make release UNPINNED=1`.",
			len(unpinned), len(urls), strings.Join(unpinned, "\n  "))
	}
	return nil
}
