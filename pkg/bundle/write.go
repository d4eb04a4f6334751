package bundle

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/cluster-init/cluster-init/pkg/wholefile"
)

// WriteIndex writes bundle.json into dir. It must come last: a folder without it is no bundle.
func WriteIndex(dir string, index Index) error {
	index.Schema = Schema
	content, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the bundle's index: %w", err)
	}
	file := filepath.Join(dir, IndexFile)
	if err := wholefile.Write(file, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the bundle's index: %w", err)
	}
	return nil
}
