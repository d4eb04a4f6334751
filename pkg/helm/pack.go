package helm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"

	"helm.sh/helm/v3/pkg/ignore"
	"helm.sh/helm/v3/pkg/registry"
	"sigs.k8s.io/yaml"
)

// The media types of a chart in a registry.
const (
	ConfigMediaType = registry.ConfigMediaType
	LayerMediaType  = registry.ChartLayerMediaType
)

// IgnoreFile is the name of the file in a chart that lists what is not packed.
const IgnoreFile = ignore.HelmIgnore

// Metadata returns Chart.yaml with a version in place of its own, as YAML for the archive and as JSON for the config of
// the image in a registry.
func (c *Chart) Metadata(version string) (chartYAML, config []byte, err error) {
	metadata := *c.loaded.Metadata
	metadata.Version = version
	if chartYAML, err = yaml.Marshal(metadata); err != nil {
		return nil, nil, fmt.Errorf("write Chart.yaml: %w", err)
	}
	if config, err = json.Marshal(metadata); err != nil {
		return nil, nil, fmt.Errorf("write the config of the chart: %w", err)
	}
	return chartYAML, config, nil
}

// Ignored returns a function that reports whether a file of a chart is not packed, by its path below the chart's
// folder. rules is the content of the IgnoreFile, if any.
func Ignored(rules []byte) (func(path string, info fs.FileInfo) bool, error) {
	parsed, err := ignore.Parse(bytes.NewReader(rules))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", IgnoreFile, err)
	}
	parsed.AddDefaults()
	return parsed.Ignore, nil
}
