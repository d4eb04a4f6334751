package offline

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/debian"
	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
)

// sideBySide is how many modules are built at once: while one is being linked, by one thread, another is compiled.
const sideBySide = 2

// prepare makes what images are made of: binaries, and beside the compiler, as it mostly waits for the network, the root
// file systems.
func (b *builder) prepare(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return b.compile(ctx) })
	group.Go(func() error {
		for _, rootfs := range b.rootfses() {
			if _, err := rootfs.Build(ctx, b.Store, b.Say); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// compile builds all modules. The first one has most of what the others share: it is built alone, as two toolchains that
// start at once compile the same packages twice.
func (b *builder) compile(ctx context.Context) error {
	compiler := &golang.Builder{Root: b.Root, Store: b.Store, Say: b.Say}
	modules := plan.Modules(b.Environments)
	built := make([]golang.Built, len(modules))
	build := func(i int) (err error) {
		built[i], err = compiler.Build(ctx, modules[i])
		return err
	}
	if err := build(0); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sideBySide)
	for i := range modules[1:] {
		group.Go(func() error { return build(i + 1) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, module := range modules {
		b.modules[module.Name] = built[i]
	}
	return nil
}

// rootfses are the root file systems below the images of the bundle.
func (b *builder) rootfses() []debian.Rootfs {
	systems := []debian.Rootfs{nodeSystem()}
	if plan.Uses(b.Environments, plan.OpenStack) {
		systems = append(systems, serverSystem())
	}
	for _, image := range plan.NodeImages() {
		if len(image.Debian) > 0 {
			systems = append(systems, system(image))
		}
	}
	return append(systems, balancerSystem())
}
