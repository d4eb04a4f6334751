// Package clusterinit carries the content that cluster-init installs: the chart, the components and the
// environments. It holds no code, only the embedded folders, because go:embed cannot reach above its own folder.
package clusterinit

import (
	"embed"
	"io/fs"
)

//go:embed all:charts all:kustomize-components all:environment-values
var content embed.FS

// Content returns the folders charts, kustomize-components and environment-values, with these names at its root.
// It is read-only and always the one that this binary was built with.
func Content() fs.FS { return content }
