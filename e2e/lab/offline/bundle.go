// Package offline builds the offline bundle: it makes what plan names with the packages next to it, each part once for
// what defines it, and writes the result in the format of pkg/bundle.
package offline

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cluster-init/cluster-init/e2e/lab/golang"
	"github.com/cluster-init/cluster-init/e2e/lab/plan"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
	"github.com/cluster-init/cluster-init/e2e/lab/store"
	"github.com/cluster-init/cluster-init/pkg/bundle"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// Options say what to build.
type Options struct {
	Root         string   // folder of the repository
	Environments []string // all that the bundle is to be complete for
	// packages of the repository that are needed next: compiled together with what the bundle is made of
	Programs []string
	Out      string // folder of the bundle
	Store    *store.Store
	Say      *progress.Printer
}

// builder carries what the parts share.
type builder struct {
	Options
	modules map[string]golang.Built
	certs   []byte
	values  map[string]any // Helm values of the bundle
	profile content.Tree   // components that only the lab has
}

// part is one image of the bundle, made.
type part struct {
	entry bundle.Image
	dir   string // image layout with this one image
	key   string // hash of what defines it
}

// Build builds the bundle, or finds that the one in Out is what would be built.
func Build(ctx context.Context, options Options) error {
	if err := plan.CheckEnvironments(options.Environments); err != nil {
		return err
	}
	options.Environments = slices.Compact(slices.Sorted(slices.Values(options.Environments)))
	if err := checkPlace(options.Out); err != nil {
		return err
	}
	b := &builder{Options: options, modules: map[string]golang.Built{}, values: plan.Values()}
	if err := b.loadCertificates(); err != nil {
		return err
	}
	var err error
	if b.profile, err = profile(options.Root); err != nil {
		return err
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	parts, content, err := b.images(ctx)
	if err != nil {
		return err
	}
	manifests, err := b.manifests(ctx)
	if err != nil {
		return err
	}
	if err := checkImages(manifests, parts, plan.Unheld()); err != nil {
		return err
	}
	return b.write(parts, content, manifests)
}

// images makes the images of the bundle, and lists those inside of the node image.
func (b *builder) images(ctx context.Context) (parts []part, content []bundle.Image, err error) {
	var nodeImage part
	group, both := errgroup.WithContext(ctx) // one thread compresses an image
	group.Go(func() (err error) {
		parts, err = b.pulled(both)
		return err
	})
	group.Go(func() error {
		inside, err := b.nodeContent(both)
		if err != nil {
			return err
		}
		for _, made := range inside {
			content = append(content, made.entry)
		}
		nodeImage, err = b.nodeImage(both, inside)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	parts = append(parts, nodeImage)
	if plan.Uses(b.Environments, plan.RKE2) {
		machines, checksum, err := b.rke2NodeImage(ctx, nodeImage)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, machines)
		b.values["cluster"] = map[string]any{"rke2": map[string]any{
			"air_gapped": true, "air_gapped_checksum": checksum, "image": machines.entry.Reference,
		}}
		if plan.Uses(b.Environments, plan.RKE2, plan.OpenStack) {
			servers, err := b.openstackMachine(ctx, plan.OpenStackStandinMachines, machines)
			if err != nil {
				return nil, nil, err
			}
			parts = append(parts, servers)
		}
	}
	if plan.Uses(b.Environments, plan.OpenStack) {
		machines, err := b.openstackMachine(ctx, plan.OpenStackMachines, nodeImage)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, machines)
	}
	return parts, content, nil
}

// pulled makes the images that the clusters pull, and the load balancer's.
func (b *builder) pulled(ctx context.Context) ([]part, error) {
	var parts []part
	for _, spec := range plan.ProviderImages(b.Environments) {
		spec.Reference = strings.ReplaceAll(spec.Reference, "{version}", b.modules[spec.Module].Pin.Version)
		made, err := b.binaryImage(ctx, spec)
		if err != nil {
			return nil, err
		}
		made.entry.Load = bundle.LoadRegistry
		parts = append(parts, made)
	}
	if plan.UsesKeepalived(b.Environments) {
		made, err := b.keepalivedImage(ctx)
		if err != nil {
			return nil, err
		}
		parts = append(parts, made)
	}
	balancer, err := b.loadBalancer(ctx)
	return append(parts, balancer), err
}

// moduleEntry fills in where an image of a module comes from.
func (b *builder) moduleEntry(reference, module string) bundle.Image {
	built := b.modules[module]
	return bundle.Image{
		Reference: reference, Module: built.Module.Path, ModuleVersion: built.Pin.Version, Sum: built.Pin.Sum,
	}
}

// moduleDir returns the folder of a build module.
func (b *builder) moduleDir(name string) string {
	return filepath.Join(b.Root, "e2e", "lab", "modules", name)
}

// checkImages returns an error that names each image which a manifest wants and the bundle does not hold. unheld are
// the repositories of those that it may lack, and the reasons: each must be named, or the exception outlived its
// reason.
func checkImages(manifests []rendered, parts []part, unheld map[string]string) error {
	held, named := map[string]bool{}, map[string]bool{}
	for _, made := range parts {
		held[made.entry.Reference] = true
	}
	var missing []string
	for _, manifest := range manifests {
		images, err := manifest.Images()
		if err != nil {
			return err
		}
		if len(images) == 0 {
			missing = append(missing, manifest.URL+" names no image at all, which cannot be")
		}
		for _, reference := range images {
			repository, _, _ := strings.Cut(reference, ":")
			named[repository] = true
			if _, excepted := unheld[repository]; !held[reference] && !excepted {
				missing = append(missing, fmt.Sprintf("%s wants %s", manifest.URL, reference))
			}
		}
	}
	for _, repository := range slices.Sorted(maps.Keys(unheld)) {
		if !named[repository] {
			missing = append(missing, fmt.Sprintf("no manifest names %s, which is excepted", repository))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the bundle would not be complete: %s", strings.Join(missing, "; "))
	}
	return nil
}
