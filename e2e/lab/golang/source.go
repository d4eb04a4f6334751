package golang

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

// Source returns the folder of a module's source in the module cache, downloaded and verified when it is not there.
// dir is the folder of the go.mod that requires it.
func Source(ctx context.Context, dir, path string) (string, error) {
	out, err := host.Run(ctx, host.Command{
		Name: "go", Args: []string{"mod", "download", "-json", path}, Dir: dir, Env: []string{"GOFLAGS=", "GOWORK=off"},
	})
	if err != nil {
		return "", fmt.Errorf("download module %s: %w", path, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		return "", fmt.Errorf("download module %s: %w", path, err)
	}
	return module.Dir, nil
}
