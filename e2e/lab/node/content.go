package node

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/image"
)

// containerdTimeout bounds the wait for a containerd that only imports images.
const containerdTimeout = 30 * time.Second

// importImages lets containerd import an image layout and returns its data as entries of the node's
// /var/lib/containerd. The daemon runs on this host with folders of its own and without the CRI plugin; nothing is
// unpacked, so it mounts nothing.
func importImages(ctx context.Context, tools Tools, layout, work string) ([]image.Entry, error) {
	root, socket := filepath.Join(work, "root"), filepath.Join(work, "c.sock")
	config := filepath.Join(work, "config.toml")
	content := fmt.Sprintf("version = 2\nroot = %q\nstate = %q\ndisabled_plugins = [%q, %q, %q]\n[grpc]\n  address = "+
		"%q\n",
		root, filepath.Join(work, "state"), "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images",
		"io.containerd.cri.v1.runtime", socket)
	if err := os.WriteFile(config, []byte(content), 0o644); err != nil {
		return nil, fmt.Errorf("configure containerd: %w", err)
	}
	stop, err := startContainerd(ctx, tools, config, filepath.Join(work, "log"), socket)
	if err != nil {
		return nil, err
	}
	archive := filepath.Join(work, "images.tar")
	err = archiveFolder(layout, archive)
	if err == nil {
		_, err = host.Run(ctx, host.Command{Name: tools.Ctr, Args: []string{
			"--address", socket, "--namespace=k8s.io", "images", "import",
			"--label=io.cri-containerd.pinned=pinned", "--all-platforms", "--no-unpack", "--digests", archive,
		}})
	}
	stop()
	if err != nil {
		return nil, fmt.Errorf("import images into the node image: %w", err)
	}
	return dataEntries(root)
}

// startContainerd starts the daemon, waits for its socket and returns what stops it and waits for its end.
func startContainerd(ctx context.Context, tools Tools, config, log, socket string) (stop func(), err error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("create containerd's log: %w", err)
	}
	defer func() { _ = output.Close() }()
	cmd := exec.CommandContext(ctx, tools.Containerd, "--config", config)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start containerd: %w", err)
	}
	stop = func() {
		// An orderly end closes its database, which goes into the image.
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	ready, cancel := context.WithTimeout(ctx, containerdTimeout)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err = host.Run(ready, host.Command{Name: tools.Ctr,
			Args: []string{"--address", socket, "--connect-timeout=1s", "version"}}); err == nil {
			return stop, nil
		}
		select {
		case <-ready.Done():
			stop()
			text, _ := os.ReadFile(log)
			return nil, fmt.Errorf("containerd did not answer within %s: %w\n%s", containerdTimeout, err, text)
		case <-ticker.C:
		}
	}
}

// dataEntries lists the parts of containerd's data that describe images: blobs and the database.
func dataEntries(root string) ([]image.Entry, error) {
	entries := []image.Entry{{Path: "var/lib/containerd/", Mode: 0o711}}
	for _, plugin := range []string{"io.containerd.content.v1.content", "io.containerd.metadata.v1.bolt"} {
		err := filepath.WalkDir(filepath.Join(root, plugin), func(file string, item fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			entry := image.Entry{Path: "var/lib/containerd/" + filepath.ToSlash(name), Source: file}
			if item.IsDir() {
				entry = image.Entry{Path: entry.Path + "/", Mode: 0o755}
			}
			entries = append(entries, entry)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read containerd's data: %w", err)
		}
	}
	return entries, nil
}

// archiveFolder writes the files of a folder into a tar archive.
func archiveFolder(dir, archive string) error {
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	out := tar.NewWriter(file)
	err = filepath.WalkDir(dir, func(name string, item fs.DirEntry, err error) error {
		if err != nil || item.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := item.Info()
		if err != nil {
			return err
		}
		if err := out.WriteHeader(&tar.Header{Name: filepath.ToSlash(relative), Mode: 0o644,
			Size: info.Size()}); err != nil {
			return err
		}
		content, err := os.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = content.Close() }()
		_, err = io.Copy(out, content)
		return err
	})
	if err != nil {
		return err
	}
	return out.Close()
}
