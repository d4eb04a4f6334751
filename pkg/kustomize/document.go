package kustomize

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// secondDocument returns the line of the second document in a file, or 0. It does not count empty documents.
func secondDocument(content []byte) int {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for before := 0; ; {
		var root yaml.Node
		if decoder.Decode(&root) != nil {
			return 0
		}
		if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
			continue
		}
		if before++; before > 1 {
			return root.Line
		}
	}
}
