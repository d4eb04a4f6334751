package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/output"
)

// File is a file of a container: its content, and its name in its folder, mode, owner and time.
type File struct {
	Header  tar.Header
	Content []byte
}

// Regular reports whether it is a regular file, and no link, folder or device.
func (f File) Regular() bool { return f.Header.Typeflag == tar.TypeReg }

const (
	// fileBytes is far more than the size of a file that is read from a container.
	fileBytes = 1 << 20
	// tarBytes is what a tar archive of one file adds to its content, at most.
	tarBytes = 64 << 10
)

var errTooLarge = errors.New("it is larger than any such file")

// ReadFile returns a file of a container, which need not run. It follows no link. The error is ErrNotFound if there is
// no such file or container.
func (c *Client) ReadFile(ctx context.Context, container, name string) (File, error) {
	archive := &output.Whole{Limit: fileBytes + tarBytes}
	err := c.run(ctx, call{args: []string{"cp", container + ":" + name, "-"}, stdout: archive})
	if archive.Full() {
		err = fault.Wrap(errTooLarge, fault.DockerFailed, "")
	}
	if err != nil {
		return File{}, fmt.Errorf("read %s in container %s: %w", name, container, err)
	}
	f, err := firstOf(bytes.NewReader(archive.Bytes()))
	if err != nil {
		return File{}, fault.Wrap(fmt.Errorf("read %s in container %s: %w", name, container, err), fault.DockerFailed,
			"")
	}
	return f, nil
}

func firstOf(archive io.Reader) (File, error) {
	files := tar.NewReader(archive)
	header, err := files.Next()
	if err != nil {
		return File{}, fmt.Errorf("unexpected answer: %w", err)
	}
	content, err := io.ReadAll(files)
	if err != nil {
		return File{}, fmt.Errorf("unexpected answer: %w", err)
	}
	return File{Header: *header, Content: content}, nil
}

// WriteFile writes a file into a folder of a container, which need not run, and replaces one of its name.
func (c *Client) WriteFile(ctx context.Context, container, folder string, f File) error {
	var archive bytes.Buffer
	files := tar.NewWriter(&archive)
	header := f.Header
	header.Size = int64(len(f.Content))
	err := files.WriteHeader(&header)
	if err == nil {
		_, err = files.Write(f.Content)
	}
	if err = errors.Join(err, files.Close()); err == nil {
		err = c.run(ctx, call{args: []string{"cp", "-", container + ":" + folder}, stdin: &archive})
	}
	if err != nil {
		return fmt.Errorf("write %s in container %s: %w", path.Join(folder, header.Name), container, err)
	}
	return nil
}
