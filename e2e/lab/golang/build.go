package golang

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cluster-init/cluster-init/e2e/lab/host"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
)

// Builder builds modules into the store, each once for what defines it.
type Builder struct {
	Root  string // folder of the repository
	Store *store.Store
	Say   *progress.Printer
}

// Built is a module's binaries.
type Built struct {
	Module Module
	Pin    Pin
	Key    string // hash of all that defines the binaries
	Dir    string // folder of the binaries, by their names
}

// File returns the path of one binary.
func (b Built) File(name string) string { return filepath.Join(b.Dir, name) }

// Build returns the binaries of the module, from the store when they are there.
func (b *Builder) Build(ctx context.Context, module Module) (Built, error) {
	pin, err := module.Pin(b.Root)
	if err != nil {
		return Built{}, err
	}
	key, err := b.key(ctx, module, pin)
	if err != nil {
		return Built{}, err
	}
	dir, err := b.Store.Get("bin", module.Name, key, func(dir string) error {
		return b.Say.Step("build "+strings.TrimSpace(module.Name+" "+pin.Version+module.Release), func() error {
			return b.compile(ctx, module, pin, dir)
		})
	})
	return Built{Module: module, Pin: pin, Key: key, Dir: dir}, err
}

// Has reports whether the store holds the module's binaries, so that Build has nothing to do.
func (b *Builder) Has(ctx context.Context, module Module) (bool, error) {
	pin, err := module.Pin(b.Root)
	if err != nil {
		return false, err
	}
	key, err := b.key(ctx, module, pin)
	if err != nil {
		return false, err
	}
	return b.Store.Has("bin", module.Name, key)
}

// Missing is the workspace of those modules that the store does not hold yet. Modules with versions of their own are
// not in it.
func (b *Builder) Missing(ctx context.Context, modules []Module) (Workspace, error) {
	space := Workspace{Root: b.Root}
	for _, module := range modules {
		has, err := b.Has(ctx, module)
		if err != nil {
			return space, err
		}
		if !has && module.Apart == "" {
			space.Modules = append(space.Modules, module)
		}
	}
	return space, nil
}

// Share compiles what those modules share that the store does not hold yet, and the packages of the repository with it,
// so that Build has little more to do than to link.
func (b *Builder) Share(ctx context.Context, modules []Module, packages ...string) error {
	space, err := b.Missing(ctx, modules)
	if err != nil || len(space.Modules) < 2 {
		return err
	}
	space.Packages = packages
	return b.Say.Step(fmt.Sprintf("compile what %d modules share", len(space.Modules)), func() error {
		err := space.Compile(ctx)
		if err == nil || ctx.Err() != nil {
			return err
		}
		// A single module that could not be downloaded would cost the ten minutes that the rest has taken, which the
		// toolchain keeps.
		b.Say.Say("once more, because: %v", err)
		return space.Compile(ctx)
	})
}

// key hashes the module's files, the toolchain and the command lines.
func (b *Builder) key(ctx context.Context, module Module, pin Pin) (string, error) {
	var sources []string
	err := filepath.WalkDir(module.Dir(b.Root), func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(file, "_test.go") {
			sources = append(sources, file)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read build module %s: %w", module.Name, err)
	}
	content, err := store.FileKey(sources...)
	if err != nil {
		return "", err
	}
	toolchain, err := version(ctx)
	if err != nil {
		return "", err
	}
	parts := []string{content, toolchain, runtime.GOARCH, strings.Join(flags(module, pin), " ")}
	for _, binary := range module.Binaries {
		parts = append(parts, binary.Package, binary.Name)
	}
	return store.Key(parts...), nil
}

// compile runs the Go toolchain. One call builds all binaries whose file names are the toolchain's own choice, so that
// it links them side by side.
func (b *Builder) compile(ctx context.Context, module Module, pin Pin, dir string) error {
	var together []string
	for _, binary := range module.Binaries {
		if path.Base(binary.Package) == binary.Name {
			together = append(together, binary.Package)
			continue
		}
		if err := b.goBuild(ctx, module, pin, filepath.Join(dir, binary.Name), binary.Package); err != nil {
			return err
		}
	}
	if len(together) == 0 {
		return nil
	}
	return b.goBuild(ctx, module, pin, dir+string(os.PathSeparator), together...)
}

// goBuild makes static binaries that depend on nothing but the pins: no cgo, no paths, no build ids, no VCS state.
func (b *Builder) goBuild(ctx context.Context, module Module, pin Pin, out string, packages ...string) error {
	args := append([]string{"build", "-o", out}, flags(module, pin)...)
	_, err := host.Run(ctx, host.Command{
		Name: "go", Args: append(args, packages...), Dir: module.Dir(b.Root),
		Env: append(environment(), "GOWORK=off"),
	})
	if err != nil {
		return fmt.Errorf("build %s: %w", module.Name, err)
	}
	return nil
}

// commonFlags are the build flags of everything. -mod=readonly lets go.sum decide what may be used. The tag, which
// Google's client for storage documents, leaves out what it has for gRPC beyond HTTP: of a controller of Flux these are
// 130 packages, and no bucket is in the lab.
func commonFlags() []string {
	return []string{"-mod=readonly", "-trimpath", "-buildvcs=false", "-tags=disable_grpc_modules"}
}

// flags returns the build flags of a module.
func flags(module Module, pin Pin) []string {
	return append(commonFlags(), "-ldflags="+
		strings.Join(append([]string{"-s", "-w", "-buildid="}, stamps(module.Stamps, pin.Version+module.Release)...),
			" "))
}

// stamps returns the linker flags that tell Kubernetes binaries their version; without them kubeadm and kubelet take
// themselves for v0.0.0.
func stamps(packages []string, version string) []string {
	numbers := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	var args []string
	for _, name := range packages {
		args = append(args, "-X", name+".gitVersion="+version, "-X", name+".gitTreeState=clean")
		if len(numbers) == 3 {
			args = append(args, "-X", name+".gitMajor="+numbers[0], "-X", name+".gitMinor="+numbers[1])
		}
	}
	return args
}
