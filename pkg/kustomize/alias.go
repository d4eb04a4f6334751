package kustomize

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// mostNodes is the most that a file of YAML may come to when its aliases are followed.
const mostNodes = 1 << 20

// checkAliases refuses YAML whose aliases lead back to themselves, which overflows kustomize's stack, or that grows out of all proportion. What is
// no YAML is left to kustomize.
func checkAliases(content []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	count := 0
	for {
		var root yaml.Node
		if decoder.Decode(&root) != nil {
			return nil
		}
		if err := follow(&root, map[*yaml.Node]bool{}, &count); err != nil {
			return err
		}
	}
}

// follow counts nodes, those behind aliases too. open are the aliases that lead to this node.
func follow(node *yaml.Node, open map[*yaml.Node]bool, count *int) error {
	if *count++; *count > mostNodes {
		return errors.New("its aliases make it too large")
	}
	if node.Kind == yaml.AliasNode {
		if open[node.Alias] {
			return fmt.Errorf("line %d: alias *%s stands in what it stands for", node.Line, node.Value)
		}
		open[node.Alias] = true
		defer delete(open, node.Alias)
		return follow(node.Alias, open, count)
	}
	for _, child := range node.Content {
		if err := follow(child, open, count); err != nil {
			return err
		}
	}
	return nil
}

// secondDocument returns the line of the second document in a file that is not empty; 0: there is none.
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
