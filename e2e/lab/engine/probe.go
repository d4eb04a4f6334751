package engine

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

// probeImage is the image of one static binary that shows what the engine can do without pulling anything.
const probeImage = "cluster-init.io/lab-probe:1"

// answerTimeout bounds one question to the engine.
const answerTimeout = 10 * time.Second

// serverVersion asks the engine for its version; an error means that none answers.
func serverVersion(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	out, err := host.Run(ctx, host.Command{Name: "docker",
		Args: []string{"version", "--format", "{{.Server.Version}}"}})
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out), nil
}

// Answers reports whether an engine answers. Without one no container runs.
func Answers(ctx context.Context) bool {
	_, err := serverVersion(ctx)
	return err == nil
}

// probe starts a privileged container: kind nodes and machines are such, and hosts without CAP_SYS_RESOURCE refuse
// them unless the runtime shim is the default runtime.
func probe(ctx context.Context, root string) error {
	pause, err := buildTool(ctx, root, "pause")
	if err != nil {
		return err
	}
	binary, err := os.ReadFile(pause)
	if err != nil {
		return fmt.Errorf("read the probe: %w", err)
	}
	archive, err := singleFile("pause", binary)
	if err != nil {
		return err
	}
	if _, err := host.Run(ctx, host.Command{Name: "docker", Args: []string{"import", "-", probeImage},
		Stdin: archive}); err != nil {
		return fmt.Errorf("import the probe image: %w", err)
	}
	defer func() {
		_, _ = host.Run(context.WithoutCancel(ctx), host.Command{Name: "docker", Args: []string{"rmi", probeImage}})
	}()
	_, err = host.Run(ctx, host.Command{Name: "docker", Args: []string{"run", "--rm", "--privileged", "--network=none",
		probeImage, "/pause", "--version"}})
	if err != nil && strings.Contains(err.Error(), "caps") {
		return fmt.Errorf("the Docker engine cannot start privileged containers, as this host lacks CAP_SYS_RESOURCE: "+
			"stop it and let `go run ./e2e/lab engine` start it: %w", err)
	}
	if err != nil {
		return fmt.Errorf("the Docker engine cannot start privileged containers: %w", err)
	}
	return nil
}

// singleFile returns a tar archive of one executable.
func singleFile(name string, content []byte) ([]byte, error) {
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	if err := writer.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
		return nil, fmt.Errorf("write the probe image: %w", err)
	}
	if _, err := writer.Write(content); err != nil {
		return nil, fmt.Errorf("write the probe image: %w", err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("write the probe image: %w", err)
	}
	return archive.Bytes(), nil
}

// raiseInotify gives several nodes on one kernel room for their watches: each kubelet, containerd and systemd takes
// some. Without the right to write these it only warns.
func raiseInotify(say *progress.Printer) {
	for file, least := range map[string]int{
		"/proc/sys/fs/inotify/max_user_instances": 1024,
		"/proc/sys/fs/inotify/max_user_watches":   524288,
	} {
		current := 0
		content, err := os.ReadFile(file)
		if err == nil {
			_, err = fmt.Sscan(string(content), &current)
		}
		if err == nil && current >= least {
			continue
		}
		if err := os.WriteFile(file, fmt.Appendf(nil, "%d", least), 0o644); err != nil {
			say.Say("warning: %s is %d, wanted %d: %v", file, current, least, err)
		}
	}
}
