package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// What --timeout may be: less than any cluster takes would only fail, and nobody waits longer for one phase.
const (
	shortestTimeout = 10 * time.Second
	longestTimeout  = 24 * time.Hour
)

// check returns all that is wrong with flags that stand for themselves, before anything is created.
func (o *upOptions) check() error {
	var problems []error
	refuse := func(hint, format string, args ...any) {
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf(format, args...), hint))
	}
	if net.ParseIP(o.engineAddress) == nil && strings.ContainsAny(o.engineAddress, ":/@ ") {
		refuse("Give it without scheme and port.", "--engine-address %q is neither a name nor an address", o.engineAddress)
	}
	if o.timeout < shortestTimeout || o.timeout > longestTimeout {
		refuse("Give a duration from 10s to 24h, for example --timeout 45m.", "--timeout %s is out of range", o.timeout)
	}
	if o.apiServerPort < 0 || o.apiServerPort > 65535 {
		refuse("Give a port from 1 to 65535, or 0, which takes a free one.", "--api-server-port: there is no port %d", o.apiServerPort)
	}
	for _, file := range []struct{ flag, path, hint string }{
		{"--bootstrap-kubeconfig", o.bootstrapKubeconfig, "Name a file that holds a kubeconfig."},
		{"--registry-binary", o.registryBinary, "Name a static linux binary of cluster-init."},
	} {
		if file.path == "" {
			continue
		}
		if err := isFile(file.path); err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("read %s: %w", file.flag, err), fault.Usage, file.hint))
		}
	}
	if o.kubeconfig != "" {
		if err := canWrite(o.kubeconfig); err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("write --kubeconfig: %w", err), fault.Usage, "Give the path of a file in a folder that you may write to."))
		}
	}
	return fault.Join(problems...)
}

// isFile returns why a path cannot be read as a file, nil when it can.
func isFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	return err
}

// canWrite returns why no file can be written at a path, nil when one can. Folders that are not there yet will be made.
func canWrite(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	for {
		// A file for a moment: the mode of a folder says nothing about users, ACLs and read-only file systems.
		probe, err := os.CreateTemp(folder, ".cluster-init-*")
		if err == nil {
			probe.Close()
			return os.Remove(probe.Name())
		}
		parent := filepath.Dir(folder)
		if !errors.Is(err, fs.ErrNotExist) || parent == folder {
			return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
		}
		folder = parent
	}
}
