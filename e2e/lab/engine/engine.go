// Package engine makes sure that a Docker engine runs that can start privileged containers.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

// startTimeout bounds the wait for a freshly started engine's first answer.
const startTimeout = 90 * time.Second

// Ensure is idempotent: it uses the engine that answers, and otherwise installs and starts one. root is the folder
// of the root module, from which the runtime shim is built.
func Ensure(ctx context.Context, root string, say *progress.Printer) error {
	unlock, err := host.Lock("engine")
	if err != nil {
		return err
	}
	defer unlock()
	raiseInotify(say)
	if version, err := serverVersion(ctx); err == nil {
		say.Say("Docker engine %s answers", version)
		if err := restoreShim(ctx, root); err != nil {
			return err
		}
		return probe(ctx, root)
	}
	if endpoint := os.Getenv("DOCKER_HOST"); endpoint != "" {
		return fmt.Errorf("no Docker engine answers at DOCKER_HOST=%s: start it, or unset DOCKER_HOST so that the lab "+
			"starts one here", endpoint)
	}
	if os.Geteuid() != 0 {
		return errors.New("no Docker engine answers, and starting one needs root")
	}
	if err := say.Step("install the Docker engine", func() error {
		return host.Install(ctx, "dockerd", "docker.io", "iptables")
	}); err != nil {
		return err
	}
	if err := say.Step("start the Docker engine", func() error { return start(ctx, root) }); err != nil {
		return err
	}
	weighContainers(cpuController, say)
	return probe(ctx, root)
}

// start starts the daemon, detached, and waits for its first answer.
func start(ctx context.Context, root string) error {
	dir, err := host.MakeCacheDir("lab", "engine")
	if err != nil {
		return err
	}
	config, err := writeConfig(ctx, root, dir)
	if err != nil {
		return err
	}
	for file, program := range map[string]string{filepath.Join(dir, pidName): "dockerd", containerdPID: "containerd"} {
		if err := removeStale(file, program); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ended, err := launch(dir, config)
	if err != nil {
		return err
	}
	return waitForAnswer(ctx, ended, filepath.Join(dir, logName))
}

// waitForAnswer returns when the engine answers, its process ends or ctx is over.
func waitForAnswer(ctx context.Context, ended <-chan error, log string) error {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := serverVersion(ctx); err == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("dockerd ended at once (%v), see %s", err, log) //nolint:errorlint // err may be nil
		case <-ctx.Done():
			return fmt.Errorf("dockerd did not answer within %s, see %s: %w", startTimeout, log, ctx.Err())
		case <-ticker.C:
		}
	}
}
