package machineadm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	modulesFile     = "/etc/modules-load.d/90-cluster-init.conf"
	sysctlsFile     = "/etc/sysctl.d/90-cluster-init.conf"
	staticPodFolder = "/etc/kubernetes/manifests"
)

// step is one part of the preparation. Its name completes a sentence that begins with "cannot".
type step struct {
	name    string
	run     func(context.Context) error
	timeout time.Duration // zero means stepTimeout
}

// steps returns the preparation in its order. Whatever makes files for Kubernetes comes last: a machine that fails
// before has none.
func (h Host) steps(c Config) []step {
	list := []step{{name: "check the image", run: func(context.Context) error { return h.checkImage(c) }}}
	if len(c.KernelModules) > 0 {
		list = append(list, step{name: "write " + modulesFile, run: func(context.Context) error {
			return h.write(modulesFile, strings.Join(c.KernelModules, "\n")+"\n", 0o644)
		}})
	}
	for _, name := range c.KernelModules {
		list = append(list, step{name: "load kernel module " + name, run: func(ctx context.Context) error {
			return h.loadModule(ctx, name)
		}})
	}
	list = append(list, h.sysctlSteps(c.Sysctls)...)
	list = append(list, h.trustSteps(c)...)
	list = append(list, h.installSteps(c)...)
	list = append(list, h.unitSteps(c)...)
	list = append(list, h.containerdSteps(c)...)
	list = append(list, h.versionSteps(c)...)
	for _, file := range c.Files {
		list = append(list, step{name: "write " + file.Path, run: func(context.Context) error {
			mode, err := file.mode()
			if err != nil {
				return err
			}
			return h.write(file.Path, file.Content, mode)
		}})
	}
	for _, pod := range c.StaticPods {
		list = append(list, step{name: "write static Pod " + pod.Name, run: func(context.Context) error {
			return h.write(staticPodFolder+"/"+pod.Name+".yaml", pod.Content, 0o600)
		}})
	}
	return list
}

// loadModule loads a module that the kernel does not have yet. A container has no modules of its own, and often no
// modprobe.
func (h Host) loadModule(ctx context.Context, name string) error {
	loaded, err := h.exists("/sys/module/" + strings.ReplaceAll(name, "-", "_"))
	if err != nil || loaded {
		return err
	}
	return h.run(ctx, "modprobe", name)
}

func (h Host) sysctlSteps(sysctls map[string]string) []step {
	if len(sysctls) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(sysctls))
	list := []step{{name: "write " + sysctlsFile, run: func(context.Context) error {
		var lines strings.Builder
		for _, name := range names {
			fmt.Fprintf(&lines, "%s = %s\n", name, sysctls[name])
		}
		return h.write(sysctlsFile, lines.String(), 0o644)
	}}}
	for _, name := range names {
		list = append(list, step{name: "set kernel parameter " + name, run: func(context.Context) error {
			return h.setSysctl(name, sysctls[name])
		}})
	}
	return list
}

// setSysctl writes a parameter to the kernel, which checks it.
func (h Host) setSysctl(name, value string) error {
	file, err := os.OpenFile(h.at("/proc/sys/"+sysctlPath(name)), os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the kernel does not have it")
	}
	if err != nil {
		return errors.Unwrap(err)
	}
	if _, err := file.WriteString(value); err != nil {
		return errors.Join(fmt.Errorf("the kernel refuses the value: %w", errors.Unwrap(err)), file.Close())
	}
	return file.Close()
}

// sysctlPath returns the path of a parameter. As sysctl does, it reads the first separator of a name as the separator
// of its parts: both net.ipv4.conf.eth0/1.forwarding and net/ipv4/conf/eth0.1/forwarding are valid.
func sysctlPath(name string) string {
	if i := strings.IndexAny(name, "./"); i >= 0 && name[i] == '/' {
		return name
	}
	return strings.NewReplacer(".", "/", "/", ".").Replace(name)
}

// mode returns the permissions of the file.
func (f File) mode() (fs.FileMode, error) {
	if f.Mode == "" {
		return 0o600, nil
	}
	mode, err := strconv.ParseUint(f.Mode, 8, 12)
	return fs.FileMode(mode), err
}
