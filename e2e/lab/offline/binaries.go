package offline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// Binaries builds the modules and returns one folder that holds links to all of their programs and, as
// TestManifestsFile, to manifests.
func Binaries(ctx context.Context, compiler *golang.Builder, manifests string, modules ...golang.Module) (
	string, error) {
	if err := compiler.Share(ctx, modules); err != nil {
		return "", err
	}
	var all []golang.Built
	keys := []string{filepath.Dir(manifests)} // its name has the key of what is in it
	for _, module := range modules {
		built, err := compiler.Build(ctx, module)
		if err != nil {
			return "", err
		}
		all, keys = append(all, built), append(keys, built.Key)
	}
	return compiler.Store.Get("binaries", "test", store.Key(keys...), func(dir string) error {
		for _, built := range all {
			for _, binary := range built.Module.Binaries {
				if err := os.Symlink(built.File(binary.Name), filepath.Join(dir, binary.Name)); err != nil {
					return fmt.Errorf("link %s: %w", binary.Name, err)
				}
			}
		}
		if err := os.Symlink(manifests, filepath.Join(dir, TestManifestsFile)); err != nil {
			return fmt.Errorf("link the manifests: %w", err)
		}
		return nil
	})
}
