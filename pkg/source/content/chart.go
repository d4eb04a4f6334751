package content

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/ignore"
	"helm.sh/helm/v3/pkg/registry"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/fault"
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
		if files["definitions.json"], err = known.Encode(); err != nil {
			return chartPackage{}, err
		}
	}
	var buffered []*loader.BufferedFile
	for p, data := range files {
		buffered = append(buffered, &loader.BufferedFile{Name: p, Data: data})
	}
	chart, err := loader.LoadFiles(buffered)
	if err == nil {
		err = chart.Validate()
	}
	if err != nil {
		return chartPackage{}, fault.Wrap(fmt.Errorf("chart %s: %w", dir, err), fault.ValuesInvalid,
			"Find the mistake with `helm lint`.")
	}
	// Each content has its own version and tag: an earlier tag in a registry never changes.
	separator := "+"
	if strings.Contains(chart.Metadata.Version, "+") {
		separator = "."
	}
	chart.Metadata.Version += separator + files.Hash()[:12]
	metadata, err := yaml.Marshal(chart.Metadata)
	if err != nil {
		return chartPackage{}, fmt.Errorf("pack chart %s: %w", dir, err)
	}
	tree := Tree{}
	for p, data := range files {
		tree[path.Join(chart.Metadata.Name, p)] = data
	}
	tree[path.Join(chart.Metadata.Name, "Chart.yaml")] = metadata
	layer, err := tree.tarGz()
	if err != nil {
		return chartPackage{}, fmt.Errorf("pack chart %s: %w", dir, err)
	}
	config, err := json.Marshal(chart.Metadata)
	if err != nil {
		return chartPackage{}, fmt.Errorf("pack chart %s: %w", dir, err)
	}
	annotations := map[string]string{
		"org.opencontainers.image.title":   chart.Metadata.Name,
		"org.opencontainers.image.version": chart.Metadata.Version,
	}
	image, err := oci.NewArtifact(config, layer, registry.ConfigMediaType, registry.ChartLayerMediaType, annotations)
	if err != nil {
		return chartPackage{}, fmt.Errorf("pack chart %s: %w", dir, err)
	}
	// A tag cannot hold a plus sign; Helm writes an underscore for it.
	version := strings.ReplaceAll(chart.Metadata.Version, "+", "_")
	return chartPackage{name: chart.Metadata.Name, version: version, image: image}, nil
}

// chartFiles reads the files of a chart by their path below dir, without those that .helmignore names.
func chartFiles(fsys fs.FS, dir string) (Tree, error) {
	rules := ignore.Empty()
	if data, err := fs.ReadFile(fsys, path.Join(dir, ignore.HelmIgnore)); err == nil {
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("chart %s: %w", dir, err)
		}
	}
	rules.AddDefaults()
	files := Tree{}
	err := fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(p, dir+"/")
		if rules.Ignore(rel, info) {
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
