package content

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/helm"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// chartPackage is a packed Helm chart.
type chartPackage struct {
	name, version string
	image         v1.Image
}

// packChart packs the chart in folder dir of fsys as Helm pushes it: the metadata as config, the archive as layer. The
// same files make the same bytes.
func packChart(fsys fs.FS, dir string) (chartPackage, error) {
	files, err := chartFiles(fsys, dir)
	if err != nil {
		return chartPackage{}, err
	}
	known, err := definitions.Of(fsys)
	if err != nil {
		return chartPackage{}, err
	}
	if len(known) > 0 { // the chart's own file may be outdated
		if files[path.Base(definitions.File)], err = known.Encode(); err != nil {
			return chartPackage{}, err
		}
	}
	chart, err := helm.Load(files)
	if err != nil {
		return chartPackage{}, fault.Wrap(fmt.Errorf("chart %s: %w", dir, err), fault.ValuesInvalid,
			"Find the mistake with `helm lint`.")
	}
	// Each content has its own version and tag: an earlier tag in a registry never changes.
	separator := "+"
	if strings.Contains(chart.Version(), "+") {
		separator = "."
	}
	version := chart.Version() + separator + files.Hash()[:12]
	metadata, config, err := chart.Metadata(version)
	if err != nil {
		return chartPackage{}, fmt.Errorf("pack chart %s: %w", dir, err)
	}
	tree := Tree{}
	for p, data := range files {
		tree[path.Join(chart.Name(), p)] = data
	}
	tree[path.Join(chart.Name(), "Chart.yaml")] = metadata
	layer, err := tree.tarGz()
	if err != nil {
		return chartPackage{}, fmt.Errorf("pack chart %s: %w", dir, err)
	}
	annotations := map[string]string{
		"org.opencontainers.image.title":   chart.Name(),
		"org.opencontainers.image.version": version,
	}
	image, err := oci.NewArtifact(config, layer, helm.ConfigMediaType, helm.LayerMediaType, annotations)
	if err != nil {
		return chartPackage{}, fmt.Errorf("pack chart %s: %w", dir, err)
	}
	// A tag cannot hold a plus sign; Helm writes an underscore for it.
	return chartPackage{name: chart.Name(), version: strings.ReplaceAll(version, "+", "_"), image: image}, nil
}

// chartFiles reads the files of a chart by their path below dir, without those that .helmignore names.
func chartFiles(fsys fs.FS, dir string) (Tree, error) {
	rules, err := fs.ReadFile(fsys, path.Join(dir, helm.IgnoreFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read chart %s: %w", dir, err)
	}
	ignored, err := helm.Ignored(rules)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", dir, err)
	}
	files := Tree{}
	err = fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(p, dir+"/")
		if ignored(rel, info) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		files[rel], err = fs.ReadFile(fsys, p)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read chart %s: %w", dir, err)
	}
	return files, nil
}
