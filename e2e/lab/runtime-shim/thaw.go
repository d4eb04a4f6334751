package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// freezers is where the engine's containers have their cgroups on a host with cgroup v1.
const freezers = "/sys/fs/cgroup/freezer/docker"

// thaw thaws the cgroups inside of a container that runc is about to kill or delete. The container engine in a node of
// kind freezes the cgroup of a Pod while it acts on it. If it dies in that moment, the frozen processes cannot die with
// the node, and the engine outside waits for them forever. With cgroup v2 they die frozen: nothing is to thaw.
func thaw(root string, args []string) error {
	if !slices.Contains(args, "kill") && !slices.Contains(args, "delete") {
		return nil
	}
	var problems []error
	for _, id := range args {
		if id == "" || id != filepath.Base(id) {
			continue
		}
		container := filepath.Join(root, id)
		err := filepath.WalkDir(container, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && path != container && entry.IsDir() {
				err = os.WriteFile(filepath.Join(path, "freezer.state"), []byte("THAWED"), 0o644)
			}
			if errors.Is(err, fs.ErrNotExist) { // no container, or a cgroup that has just gone
				return nil
			}
			return err
		})
		if err != nil {
			problems = append(problems, fmt.Errorf("thaw what is inside of container %s: %w", id, err))
		}
	}
	return errors.Join(problems...)
}
