package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Install makes sure that a program exists, by Debian's packages if it does not.
func Install(ctx context.Context, program string, packages ...string) error {
	if _, err := exec.LookPath(program); err == nil {
		return nil
	}
	if err := InstallPackages(ctx, packages...); err != nil {
		return fmt.Errorf("%s is not installed: %w", program, err)
	}
	return nil
}

// Missing returns those of Debian's packages that are not installed.
func Missing(ctx context.Context, packages ...string) ([]string, error) {
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		return packages, nil
	}
	// dpkg-query fails as soon as it does not know one of them, and still names the others.
	out, err := Run(ctx, Command{Name: "dpkg-query",
		Args: append([]string{"--show", "--showformat=${Package} ${db:Status-Status}\n"}, packages...)})
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	var missing []string
	for _, name := range packages {
		if !slices.Contains(strings.Split(out, "\n"), name+" installed") {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// InstallPackages installs Debian's packages, without those that they recommend.
func InstallPackages(ctx context.Context, packages ...string) error {
	if os.Geteuid() != 0 {
		return errors.New("installing packages needs root")
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("this host has no apt-get to install packages with")
	}
	// apt fails when two of them run at once, rather than waiting for the other.
	unlock, err := Lock("apt")
	if err != nil {
		return err
	}
	defer unlock()
	// RUNLEVEL=1 keeps invoke-rc.d from starting a daemon that the lab wants to configure first.
	env := []string{"DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1"}
	if _, err := Run(ctx, Command{Name: "apt-get", Args: []string{"update", "-q"}, Env: env}); err != nil {
		return err
	}
	// A fresh machine may be installing its own updates.
	args := append([]string{"install", "-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"},
		packages...)
	_, err = Run(ctx, Command{Name: "apt-get", Args: args, Env: env})
	if err == nil || !strings.Contains(err.Error(), "dpkg was interrupted") {
		return err
	}
	// An earlier run was killed while it installed: finish its work first.
	if _, err := Run(ctx, Command{Name: "dpkg", Args: []string{"--configure", "-a"}, Env: env}); err != nil {
		return err
	}
	_, err = Run(ctx, Command{Name: "apt-get", Args: args, Env: env})
	return err
}
