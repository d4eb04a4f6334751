package cli

import (
	"bytes"
	"context"
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
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// The range of timeouts, besides 0.
const (
	shortestTimeout = 10 * time.Second
	longestTimeout  = 24 * time.Hour
)

// check validates flags that do not depend on the environment, before anything is created.
func (o *buildOptions) check() error {
	var problems []error
	refuse := func(hint, format string, args ...any) {
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf(format, args...), hint))
	}
	if err := checkEngineAddress(o.engineAddress); err != nil {
		problems = append(problems, err)
	}
	problems = append(problems, checkBound("--timeout ", o.timeout), checkBound("--total-timeout ", o.total))
	if o.apiServerPort < 0 || o.apiServerPort > 65535 {
		refuse("Give a port from 1 to 65535, or 0, which takes a free one.", "--api-server-port: there is no port %d",
			o.apiServerPort)
	}
	for _, ignored := range []struct {
		flag  string
		given bool
	}{{"--node-image", o.nodeImage != ""}, {"--api-server-port", o.apiServerPort != 0}} {
		if ignored.given && o.bootstrapKubeconfig != "" {
			refuse("Leave "+ignored.flag+" out: it is for the bootstrap cluster that up makes without "+
				"--bootstrap-kubeconfig.",
				"%s is given, but the bootstrap cluster is that of --bootstrap-kubeconfig", ignored.flag)
		}
	}
	for _, file := range []struct{ flag, path, hint string }{
		{"--registry-binary", o.registryBinary, "Name a static linux binary of cluster-init."},
	} {
		if file.path == "" {
			continue
		}
		if err := isFile(file.path); err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("read %s: %w", file.flag, err), fault.Usage, file.hint))
		}
	}
	problems = append(problems, readable("bootstrap-kubeconfig", o.bootstrapKubeconfig),
		differ(o.bootstrapKubeconfig, o.kubeconfig))
	if o.readsKubeconfig {
		problems = append(problems, readable("kubeconfig", o.kubeconfig))
	}
	if o.kubeconfig != "" && !o.readsKubeconfig {
		err := canWrite(o.kubeconfig)
		if err == nil {
			err = isReplaceable(o.kubeconfig)
		}
		if err != nil {
			problems = append(problems, fault.Wrap(fmt.Errorf("write --kubeconfig: %w", err), fault.Usage,
				"Give the path of a file in a folder that you may write to."))
		}
	}
	return fault.Join(problems...)
}

// checkNew refuses a --new with another name than the environment's cluster.
func checkNew(given, cluster string) error {
	if given == "" || given == cluster {
		return nil
	}
	return fault.New(fault.Usage, fmt.Sprintf("--new is %s, but the environment's cluster is %s", given, cluster),
		"Give --new "+cluster+", or set cluster.name to "+given+".")
}

// checkBound is checkTimeout for a flag that may be 0, which means no bound.
func checkBound(flag string, bound time.Duration) error {
	if bound == 0 {
		return nil
	}
	return checkTimeout(flag, bound)
}

// checkTimeout refuses a timeout out of range. flag is the text before the duration.
func checkTimeout(flag string, timeout time.Duration) error {
	if timeout < shortestTimeout || timeout > longestTimeout {
		return fault.New(fault.Usage, fmt.Sprintf("%s%s is out of range", flag, timeout),
			"Give a duration from 10s to 24h, for example "+flag+"45m.")
	}
	return nil
}

// bounded returns a context that is cancelled after --total-timeout, with a cause that says so. Like after Ctrl-C, a
// running move finishes first.
func (o *buildOptions) bounded(ctx context.Context) (context.Context, func()) {
	if o.total == 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(o.total, func() {
		cancel(fault.Retryable(fmt.Errorf("the run is not finished within --total-timeout %s", o.total), fault.Timeout,
			"Nothing is lost: run the same command again and it resumes. Raise --total-timeout if it is too short."))
	})
	return ctx, func() { timer.Stop(); cancel(nil) }
}

// checkEngineAddress refuses an address with a scheme, port or path. Empty means the default.
func checkEngineAddress(address string) error {
	if net.ParseIP(address) == nil && strings.ContainsAny(address, ":/@ ") {
		return fault.New(fault.Usage, fmt.Sprintf("--engine-address %q is neither a name nor an address", address),
			"Give it without scheme and port.")
	}
	return nil
}

// isFile returns why a path cannot be read as a file. It does not open a named pipe.
func isFile(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return nil // opening it would wait for its writer, and it can be read only once
	}
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

// canWrite returns why no file can be written at a path. Missing folders are no problem: the writer creates them.
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
		_, statErr := os.Stat(folder)
		probe, err := os.CreateTemp(folder, ".cluster-init-*")
		if err == nil {
			probe.Close()
			return os.Remove(probe.Name())
		}
		parent := filepath.Dir(folder)
		// /proc answers that a new file "does not exist", although the folder does.
		if !errors.Is(statErr, fs.ErrNotExist) || parent == folder {
			return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
		}
		folder = parent
	}
}

// isReplaceable refuses a path that is not a regular file: writing replaces it, even a device such as /dev/null.
func isReplaceable(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() { // a missing file can be created
		return nil
	}
	return fmt.Errorf("%s: not a regular file", path)
}

// checkKubeconfig refuses an existing file of --kubeconfig that is not the kubeconfig of this cluster alone. up would
// take its cluster for the management cluster, and replaces the whole file.
func checkKubeconfig(path, cluster string) error {
	if isReplaceable(path) != nil {
		return nil // already reported; and reading a pipe would block
	}
	content, err := os.ReadFile(path)
	if cluster == "" || err != nil || len(bytes.TrimSpace(content)) == 0 {
		return nil
	}
	if kube.IsOfClusterAlone(content, cluster) {
		return nil
	}
	return fault.New(fault.Usage, fmt.Sprintf("write --kubeconfig: %s exists and is not the kubeconfig of the cluster "+
		"%s alone", path, cluster),
		"Give --kubeconfig a new file. kubectl reads several: export KUBECONFIG=FILE1:FILE2.")
}

// checkRegistryBinary refuses a binary for a registry that is not started.
func (o *buildOptions) checkRegistryBinary(programs content.Programs) error {
	if o.registryBinary == "" || o.bundle != "" || source.Kind(o.kind) == source.Embedded || len(programs.Files) > 0 {
		return nil
	}
	return fault.New(fault.Usage, "--registry-binary is given, but no registry is started: the source is "+o.kind,
		"Leave --registry-binary out: only --source embedded, --bundle and machines that install Kubernetes need a "+
			"registry.")
}
