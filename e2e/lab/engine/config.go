package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

const (
	// userConfig is the daemon's default file. It is read, never written.
	userConfig = "/etc/docker/daemon.json"
	// shimRuntime is the name under which the runtime shim is registered.
	shimRuntime = "cluster-init-lab"
	// capSysResource is the number of the capability in linux/capability.h.
	capSysResource = 24
)

// writeConfig writes the daemon's configuration into dir and returns its path.
func writeConfig(ctx context.Context, root, dir string) (string, error) {
	user, err := os.ReadFile(userConfig)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the engine's configuration: %w", err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "", fmt.Errorf("read this process's capabilities: %w", err)
	}
	shim := ""
	if !hasCapability(string(status), capSysResource) {
		if shim, err = buildTool(ctx, root, "runtime-shim"); err != nil {
			return "", err
		}
	}
	config, err := daemonConfig(user, shim)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "daemon.json")
	if err := os.WriteFile(file, config, 0o644); err != nil {
		return "", fmt.Errorf("write the engine's configuration: %w", err)
	}
	return file, nil
}

// daemonConfig returns the user's configuration with the shim, when there is one, as default runtime.
func daemonConfig(user []byte, shim string) ([]byte, error) {
	config := map[string]any{}
	if len(user) > 0 {
		if err := json.Unmarshal(user, &config); err != nil {
			return nil, fmt.Errorf("parse %s: %w", userConfig, err)
		}
	}
	if shim != "" {
		runtimes, _ := config["runtimes"].(map[string]any)
		if runtimes == nil {
			runtimes = map[string]any{}
		}
		runtimes[shimRuntime] = map[string]any{"path": shim}
		config["runtimes"], config["default-runtime"] = runtimes, shimRuntime
	}
	return json.MarshalIndent(config, "", "  ")
}

// restoreShim rebuilds the shim when the engine that runs was started with one and its file is gone, as when the
// user's cache was emptied under it: without the file it can start no container.
func restoreShim(ctx context.Context, root string) error {
	out, err := host.Run(ctx, host.Command{Name: "docker", Args: []string{"info", "--format", "{{json .Runtimes}}"}})
	if err != nil {
		return fmt.Errorf("ask the engine for its runtimes: %w", err)
	}
	var runtimes map[string]struct{ Path string }
	if err := json.Unmarshal([]byte(out), &runtimes); err != nil {
		return fmt.Errorf("read the engine's runtimes: %w", err)
	}
	file := runtimes[shimRuntime].Path
	if file == "" {
		return nil
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("restore the runtime shim: %w", err)
	}
	return buildProgram(ctx, root, "runtime-shim", file)
}

// hasCapability reads the bounding set of a /proc/PID/status: what is not in it no child process can ever have.
func hasCapability(status string, number uint) bool {
	for line := range strings.Lines(status) {
		if value, found := strings.CutPrefix(line, "CapBnd:"); found {
			set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			return err == nil && set&(1<<number) != 0
		}
	}
	return false
}

// buildTool builds one of the lab's own small programs, statically, and returns its path.
func buildTool(ctx context.Context, root, name string) (string, error) {
	dir, err := host.MakeCacheDir("lab", "tools")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, name)
	return file, buildProgram(ctx, root, name, file)
}

func buildProgram(ctx context.Context, root, name, file string) error {
	_, err := host.Run(ctx, host.Command{
		Name: "go", Args: []string{"build", "-trimpath", "-ldflags=-s -w", "-o", file, "./e2e/lab/" + name},
		Dir: root, Env: []string{"CGO_ENABLED=0"},
	})
	if err != nil {
		return fmt.Errorf("build the lab's %s: %w", name, err)
	}
	return nil
}
