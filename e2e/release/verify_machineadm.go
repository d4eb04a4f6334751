package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

const (
	machineadmPackage = "github.com/cluster-init/cluster-init/cmd/machineadm"
	versionTimeout    = 30 * time.Second // for a program that only prints
)

// verifyMachineadm checks that the program for machines is the right one, for that platform, and needs nothing of their
// images. It returns the modules. On its own platform, the program must also read the configurations of this commit.
func verifyMachineadm(ctx context.Context, w io.Writer, dist, platform string, sums map[string]string) ([]string,
	error) {
	file, err := released(dist, "machineadm", "_"+platform, sums)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	info, err := platformOf(content, platform)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if info.Path != machineadmPackage {
		return nil, fmt.Errorf("%s is a build of %s", file, info.Path)
	}
	if err := checkStatic(content); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	said := "not run here"
	if platform == runtime.GOOS+"_"+runtime.GOARCH {
		if said, err = versionOf(ctx, file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if said != machineadm.APIVersion {
			return nil, fmt.Errorf("%s: its version is %q, want %s", file, said, machineadm.APIVersion)
		}
	}
	modules := modulesOf(info)
	fmt.Fprintf(w, "machineadm %s: static, %d modules, %s\n", path.Base(file), len(modules), said)
	return modules, nil
}

// checkStatic refuses a program that asks for a loader, as a machine may not have it.
func checkStatic(content []byte) error {
	program, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("read it as a program for Linux: %w", err)
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			return errors.New("it is not static: it asks for a loader")
		}
	}
	return nil
}

// versionOf runs the program.
func versionOf(ctx context.Context, file string) (string, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, file, "version").Output()
	if err != nil {
		return "", fmt.Errorf("ask for its version: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
