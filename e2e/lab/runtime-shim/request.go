package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// dropped is the capability that the host cannot give.
const dropped = "CAP_SYS_RESOURCE"

// requestFile returns the file that names the capabilities of this runc call: config.json of the bundle for create,
// run and restore, the process file for exec; "" for every other call, which passes through unchanged.
func requestFile(args []string) string {
	command := ""
	bundle, process := ".", ""
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "-") {
			if command == "" && isCommand(name) {
				command = name
			}
			continue
		}
		switch strings.TrimLeft(name, "-") {
		case "bundle", "b", "process", "p":
			if !joined && i+1 < len(args) {
				i++
				value = args[i]
			}
			if strings.HasPrefix(strings.TrimLeft(name, "-"), "b") {
				bundle = value
			} else {
				process = value
			}
		}
	}
	switch command {
	case "create", "run", "restore":
		return filepath.Join(bundle, "config.json")
	case "exec":
		return process
	}
	return ""
}

// isCommand tells runc's commands that start a process, and exec's siblings, from the values of global flags.
func isCommand(word string) bool {
	switch word {
	case "create", "run", "restore", "exec", "start", "state", "kill", "delete", "ps", "update", "pause", "resume",
		"events", "list", "spec", "features", "checkpoint":
		return true
	}
	return false
}

// dropFromFile rewrites the file without the dropped capability and leaves its mode as it was.
func dropFromFile(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("read the runtime request: %w", err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the runtime request: %w", err)
	}
	after, err := drop(before)
	if err != nil {
		return fmt.Errorf("edit the runtime request %s: %w", file, err)
	}
	if bytes.Equal(before, after) {
		return nil
	}
	if err := os.WriteFile(file, after, info.Mode().Perm()); err != nil {
		return fmt.Errorf("write the runtime request: %w", err)
	}
	return nil
}

// drop takes the capability out of every capability set of a config.json (where the sets are under "process") or of
// a process file (where they are at the top). Numbers keep their digits: limits do not fit into a float.
func drop(data []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var request map[string]any
	if err := decoder.Decode(&request); err != nil {
		return nil, err
	}
	changed := dropFromSets(request)
	if process, ok := request["process"].(map[string]any); ok {
		changed = dropFromSets(process) || changed
	}
	if !changed {
		return data, nil
	}
	return json.Marshal(request)
}

// dropFromSets edits process["capabilities"] in place and tells whether anything was dropped.
func dropFromSets(process map[string]any) bool {
	sets, _ := process["capabilities"].(map[string]any)
	changed := false
	for name, value := range sets {
		list, _ := value.([]any)
		kept := make([]any, 0, len(list))
		for _, capability := range list {
			if capability != dropped {
				kept = append(kept, capability)
			}
		}
		if len(kept) != len(list) {
			sets[name], changed = kept, true
		}
	}
	return changed
}
