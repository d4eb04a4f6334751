package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

// Install makes sure that a program exists, by Debian's packages if it does not.
func Install(ctx context.Context, program string, packages ...string) error {
	if _, err := exec.LookPath(program); err == nil {
		return nil
	}
	if os.Geteuid() != 0 {
		return errors.New(program + " is not installed, and installing it needs root")
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New(program + " is not installed, and this host has no apt-get to install it with")
	}
	// RUNLEVEL=1 keeps invoke-rc.d from starting a daemon that the lab wants to configure first.
	env := []string{"DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"}
	if _, err := Run(ctx, Command{Name: "apt-get", Args: []string{"update", "-q"}, Env: env}); err != nil {
		return err
	}
	args := append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...)
	_, err := Run(ctx, Command{Name: "apt-get", Args: args, Env: env})
	return err
}
