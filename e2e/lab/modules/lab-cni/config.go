package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// configName sorts before any other network's file: the container runtime takes the first.
const configName = "10-lab.conflist"

// pluginConfig returns the configuration list of the container runtime for one node.
func pluginConfig(podCIDR string) ([]byte, error) {
	return json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0",
		"name":       "lab",
		"plugins": []any{
			map[string]any{
				"type":   "ptp",
				"ipMasq": true,
				"ipam": map[string]any{
					"type": "host-local",
					// Leases end with the node's boot, as its pods do.
					"dataDir": "/run/cni-ipam-state",
					"routes":  []any{map[string]any{"dst": "0.0.0.0/0"}},
					"ranges":  []any{[]any{map[string]any{"subnet": podCIDR}}},
				},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]any{"portMappings": true}},
		},
	}, "", "  ")
}

// writeConfig writes the configuration in one step, as the runtime reads it at any moment, and only when it changed.
func writeConfig(dir, podCIDR string) error {
	content, err := pluginConfig(podCIDR)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, configName)
	if current, err := os.ReadFile(file); err == nil && bytes.Equal(current, content) {
		return nil
	}
	// The runtime ignores files without a known suffix.
	temporary := file + ".new"
	if err := os.WriteFile(temporary, content, 0o644); err != nil {
		return fmt.Errorf("write the network configuration: %w", err)
	}
	if err := os.Rename(temporary, file); err != nil {
		return fmt.Errorf("write the network configuration: %w", err)
	}
	return nil
}
