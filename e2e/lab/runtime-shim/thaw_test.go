package main

import (
	"os"
	"path/filepath"
	"testing"
)

// What is inside of a container is thawed when runc kills or deletes it; the container itself, which `docker pause`
// freezes, and other containers stay as they are.
func TestThaw(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string // in the cgroup of a Pod inside of container one
	}{
		"kill":        {[]string{"--root", "/r", "kill", "--all", "one", "9"}, "THAWED"},
		"delete":      {[]string{"delete", "--force", "one"}, "THAWED"},
		"another one": {[]string{"kill", "two", "9"}, "FROZEN"},
		"none of it":  {[]string{"kill", "three", "9"}, "FROZEN"},
		"state":       {[]string{"--root", "/r", "state", "one"}, "FROZEN"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			state := func(cgroup string) string { return filepath.Join(root, cgroup, "freezer.state") }
			for _, cgroup := range []string{"one", "one/kubelet/pod", "two"} {
				if err := os.MkdirAll(filepath.Join(root, cgroup), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(state(cgroup), []byte("FROZEN"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := thaw(root, tc.args); err != nil {
				t.Fatal(err)
			}
			for cgroup, want := range map[string]string{"one": "FROZEN", "one/kubelet/pod": tc.want, "two": "FROZEN"} {
				if got, err := os.ReadFile(state(cgroup)); err != nil || string(got) != want {
					t.Errorf("%s is %s, %v; want %s", cgroup, got, err, want)
				}
			}
		})
	}
}
