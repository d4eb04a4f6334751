package openstack

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

// WithHypervisor has Start run `PROGRAM openstack hypervisor` besides, which makes machines of nova's servers. program
// is the running lab: Start copies it, as `go run` deletes the original. The daemon starts after nova and ends before
// it.
func (l *Lab) WithHypervisor(program string) *Lab {
	with := *l
	with.hypervisor = program
	return &with
}

// binary returns the path of the copy that runs as a daemon.
func (l *Lab) binary() string { return l.dir + "/lab" }

// hypervisorEnvironment is the user's, in which the Docker engine and the lab's folder are found, with this cloud in
// place of any other.
func (l *Lab) hypervisorEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "OS_") || strings.Contains(entry, "\n")
	})
	return append(env, "OS_CLIENT_CONFIG_FILE="+l.Clouds())
}

// hypervisorMounts are the docker CLI of this machine, the socket of its engine, and the user's cache folder, which has
// the bundle.
func (l *Lab) hypervisorMounts() []string {
	program, err := exec.LookPath("docker")
	if err != nil {
		program = "/usr/bin/docker" // no engine, hence no start
	}
	mounts := []string{filepath.Dir(filepath.Dir(l.dir)), program + ":/usr/local/bin/docker:ro"}
	address := cmp.Or(os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock")
	if socket, local := strings.CutPrefix(address, "unix://"); local {
		mounts = append(mounts, socket)
	}
	return mounts
}

// copyHypervisor makes the copy when there is a hypervisor. One that runs keeps the file that it was started from.
func (l *Lab) copyHypervisor() error {
	if l.hypervisor == "" {
		return nil
	}
	content, err := os.ReadFile(l.hypervisor)
	if err != nil {
		return fmt.Errorf("copy the lab's program: %w", err)
	}
	if err := configuration.Write(l.binary(), content); err != nil {
		return err
	}
	if err := os.Chmod(l.binary(), 0o700); err != nil {
		return fmt.Errorf("copy the lab's program: %w", err)
	}
	return nil
}
