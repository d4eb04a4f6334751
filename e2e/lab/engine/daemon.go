package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
)

const (
	pidName = "dockerd.pid"
	logName = "dockerd.log"
	// stopTimeout bounds the wait for the end of the daemon, which stops its containers first.
	stopTimeout = 60 * time.Second
)

// launch starts dockerd in a session of its own, so that it outlives the lab, and tells on the channel when it ends.
func launch(dir, config string) (<-chan error, error) {
	log, err := os.OpenFile(filepath.Join(dir, logName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the engine's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command("dockerd", "--config-file", config, "--pidfile", filepath.Join(dir, pidName))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start dockerd: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return ended, nil
}

// Stop ends the engine that Ensure has started, and no other. It tells whether there was one.
func Stop(ctx context.Context) (bool, error) {
	dir, err := host.CacheDir("lab", "engine")
	if err != nil {
		return false, err
	}
	pid, err := ownPID(dir)
	if err != nil || pid == 0 {
		return false, err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return false, fmt.Errorf("stop dockerd (process %d): %w", pid, err)
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		if current, _ := ownPID(dir); current == 0 {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return true, fmt.Errorf("dockerd (process %d) has not ended within %s: %w", pid, stopTimeout, ctx.Err())
		case <-ticker.C:
		}
	}
}

// containerdPID is where dockerd notes the containerd that it starts.
const containerdPID = "/var/run/docker/containerd/containerd.pid"

// removeStale removes a pid file whose process is gone, or is another program by now. A daemon that was killed leaves
// it, and dockerd takes whatever process has got the id since for its own.
func removeStale(file, program string) error {
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pid file: %w", err)
	}
	cmdline, err := os.ReadFile("/proc/" + strings.TrimSpace(string(content)) + "/cmdline")
	if err == nil && strings.Contains(string(cmdline), program) {
		return nil
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove stale pid file: %w", err)
	}
	return nil
}

// ownPID returns the process of the lab's dockerd, 0 when it does not run. A pid file alone proves nothing: process
// ids are used again, so the process must be a dockerd with this very pid file.
func ownPID(dir string) (int, error) {
	file := filepath.Join(dir, pidName)
	content, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the engine's pid file: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("the engine's pid file %s holds no process id", file)
	}
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(cmdline), "dockerd") || !strings.Contains(string(cmdline), file) {
		return 0, nil
	}
	return pid, nil
}
