// Command forecast says how long `make up` will take on this machine, and why. It needs the standard library only: on a
// cold machine it answers before anything else is compiled.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/registries"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

func main() {
	environments := flag.String("env", "kubeadm-capd", "environments that are to be brought up, comma separated")
	offline := flag.Bool("offline", false, "a bundle is used even where registries answer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, lookBound)
	found, err := look(ctx, strings.Split(*environments, ","), *offline)
	cancel()
	stop()
	fmt.Fprint(os.Stderr, needs(strings.Split(*environments, ","), os.Getenv))
	if errors.As(err, new(noBundle)) { // known before minutes of compiling
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
	if err != nil { // a forecast that fails is no reason not to go
		fmt.Fprintln(os.Stderr, "forecast: unknown how long this will take:", err)
		return
	}
	fmt.Fprint(os.Stderr, found.text(runtime.NumCPU()))
}

const (
	// lookBound is for all questions together: a forecast must not take long.
	lookBound = 2 * time.Minute
	// engineBound is for the Docker engine, which may be another machine's.
	engineBound = 5 * time.Second
)

// noBundle says that `make up` cannot go: it needs a bundle, and the lab cannot build one for the environment or here.
type noBundle struct{ error }

// look finds out what this machine has.
func look(ctx context.Context, environments []string, offline bool) (machine, error) {
	found := machine{chosen: offline}
	var err error
	if found.engine, err = hasEngine(ctx, engineBound); err != nil {
		return found, err
	}
	if found.cache, err = hasBuildCache(ctx); err != nil {
		return found, err
	}
	if !offline && registries.Answer(ctx) {
		return found, nil
	}
	found.bundle = true
	cache, err := store.Open()
	if err != nil {
		return found, err
	}
	if err := plan.CheckEnvironments(environments); err != nil {
		if !offline {
			err = fmt.Errorf("no container registry answers: %w", err)
		}
		return found, noBundle{err}
	}
	compiler := golang.Builder{Root: ".", Store: cache, Say: progress.New(os.Stderr)}
	modules := plan.Modules(environments)
	found.modules = len(modules)
	for _, module := range modules {
		built, err := compiler.Has(ctx, module)
		if err != nil {
			return found, err
		}
		if !built {
			found.missing = append(found.missing, module.Name)
		}
	}
	if len(found.missing) > 0 {
		_, err := exec.LookPath("apt-get")
		if err := canBuild(os.Geteuid(), err == nil, offline); err != nil {
			return found, noBundle{err}
		}
	}
	return found, nil
}

// canBuild returns an error where the lab cannot build a bundle: its node image is a root file system of Debian.
func canBuild(user int, apt, chosen bool) error {
	if user == 0 && apt {
		return nil
	}
	err := errors.New("building the offline bundle from source needs root and apt-get")
	if !chosen {
		err = fmt.Errorf("no container registry answers, and %w: check the network and the proxy variables", err)
	}
	return err
}

// hasEngine reports whether there is a Docker engine. An engine that gives no answer within the bound is not absent:
// the error says so.
func hasEngine(ctx context.Context, bound time.Duration) (bool, error) {
	if _, err := exec.LookPath("dockerd"); err == nil {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	err := exec.CommandContext(ctx, "docker", "info").Run()
	if ctx.Err() != nil {
		return false, fmt.Errorf("ask the Docker engine (docker info): %w", ctx.Err())
	}
	return err == nil, nil
}

// hasBuildCache reports whether the toolchain has compiled more here than this program: its cache has one folder for
// each first byte of a hash.
func hasBuildCache(ctx context.Context) (bool, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return false, fmt.Errorf("ask for the build cache: %w", err)
	}
	entries, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "00", "*"))
	return len(entries) > 10, err
}
