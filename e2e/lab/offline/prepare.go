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

// prepare makes what images are made of: binaries, and meanwhile, as it mostly waits for the network, the
// root file systems.
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

// compile builds all modules, after what they share.
func (b *builder) compile(ctx context.Context) error {
	compiler := &golang.Builder{Root: b.Root, Store: b.Store, Say: b.Say}
	modules := plan.Modules(b.Environments)
	if err := compiler.Share(ctx, modules, b.Programs...); err != nil {
		return err
	}
	built := make([]golang.Built, len(modules))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sideBySide)
	for i, module := range modules {
		group.Go(func() (err error) {
			built[i], err = compiler.Build(ctx, module)
			return err
		})
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
	all := []debian.Rootfs{baseSystem()}
	if plan.Uses(b.Environments, plan.OpenStack) {
		all = append(all, serverSystem())
	}
	if plan.UsesKeepalived(b.Environments) {
		all = append(all, keepalivedSystem())
	}
	return all
}
