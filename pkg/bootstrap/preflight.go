package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// What a management cluster of one machine beside its bootstrap cluster takes, with some air.
const (
	minimumMemory          = 6 << 30
	minimumDisk            = 10 << 30
	minimumInotifyWatches  = 65536
	minimumInotifyInstance = 256
)

// preflight looks for what would make the run fail later, before anything is made.
func (u *Up) preflight() pipeline.Phase {
	return pipeline.Phase{
		Name: "preflight", Title: "check this machine", Timeout: time.Minute,
		Run: func(ctx context.Context, report pipeline.Reporter) error {
			info, err := u.Docker.Info(ctx)
			if err != nil {
				return err
			}
			report.Progress("Docker %s, cgroup v%s, %d CPUs, %.1f GiB of memory", info.ServerVersion, info.CgroupVersion, info.CPUs, float64(info.MemoryBytes)/(1<<30))
			return errors.Join(enough("memory of the Docker host", info.MemoryBytes, minimumMemory), diskSpace(info.RootDir), inotify(), portFree(u.APIServerPort, u.BootstrapKubeconfig))
		},
	}
}

func enough(what string, have, need int64) error {
	if have >= need {
		return nil
	}
	return fault.New(fault.HostResources, fmt.Sprintf("too little %s: %.1f GiB, at least %.1f GiB are needed", what, float64(have)/(1<<30), float64(need)/(1<<30)),
		"Give the Docker engine more, or use another one (DOCKER_HOST).")
}

// diskSpace looks at the engine's data folder, when it is on this machine.
func diskSpace(folder string) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return nil // another machine's folder: nothing to be seen from here
	}
	return enough("disk space in "+folder, int64(fs.Bavail)*fs.Bsize, minimumDisk)
}

// inotify looks at the limits that kubelet and systemd in several nodes exhaust first.
func inotify() error {
	var errs []error
	for name, need := range map[string]int{"max_user_watches": minimumInotifyWatches, "max_user_instances": minimumInotifyInstance} {
		text, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
		if err != nil {
			continue // not Linux
		}
		if have, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && have < need {
			errs = append(errs, fault.New(fault.HostResources, fmt.Sprintf("fs.inotify.%s is %d, at least %d are needed", name, have, need),
				fmt.Sprintf("sysctl -w fs.inotify.%s=%d", name, need*8)))
		}
	}
	return errors.Join(errs...)
}

func portFree(port int32, existingCluster string) error {
	if port == 0 || existingCluster != "" {
		return nil
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return fault.Wrap(fmt.Errorf("the bootstrap cluster's API server port: %w", err), fault.PortTaken,
			"Stop what listens there, or choose another with --api-server-port (0 takes a free one).")
	}
	return l.Close()
}
