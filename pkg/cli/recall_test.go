package cli

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// command finds a command and parses its flags, as Main does.
func command(t *testing.T, args ...string) (*cobra.Command, []string) {
	t.Helper()
	root := newRoot(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	c, rest, err := root.Find(args)
	if err != nil {
		t.Fatal(err)
	}
	c.SetContext(t.Context())
	if err := c.ParseFlags(rest); err != nil {
		t.Fatal(err)
	}
	return c, c.Flags().Args()
}

func TestCommandsTakeWhatTheClusterWasBuiltWith(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	t.Chdir(t.TempDir())
	values, other := filepath.Join(t.TempDir(), "v.yaml"), filepath.Join(t.TempDir(), "w.yaml")
	for _, file := range []string{values, other} {
		if err := os.WriteFile(file, []byte("cni: none\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	up, _ := command(t, "up", "kubeadm-capd", "--bundle", "here", "--values", values, "--set",
		"cluster.worker.replicas=2", "--set", "cni=calico", "--set", "git_auth_default.password=hidden",
		"--registry-mirror", "a=https://b", "--source", "git", "--source-url", "https://git.example.org/a.git",
		"--engine-address", "e", "--junit", "j.xml", "--allow-changes", "x")
	state := filepath.Join(home, "cluster-init", "kubeadm-capd")
	if err := remember(up.Flags(), "kubeadm-capd", state, true); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("here")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(state, inputsFile))
	if err != nil || strings.Contains(string(text), "hidden") || strings.Contains(string(text), "junit") ||
		strings.Contains(string(text), "allow-changes") {
		t.Fatalf("%s, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(state, inputsFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for name, tc := range map[string]struct {
		args []string
		want map[string]string // as a flag prints itself
	}{
		"status needs no flag": {[]string{"status", "kubeadm-capd"},
			map[string]string{"bundle": here, "values": "[" + values + "]",
				"set": "[cluster.worker.replicas=2,cni=calico]", "registry-mirror": "[a=https://b]",
				"engine-address": "e"}},
		"up again neither": {[]string{"up", "kubeadm-capd"}, map[string]string{"bundle": here, "source": "git",
			"source-url": "https://git.example.org/a.git", "allow-changes": "[]", "junit": ""}},
		"what is given wins": {[]string{"up", "kubeadm-capd", "--bundle", "there", "--set", "cni=none", "--values",
			other, "--engine-address="},
			map[string]string{"bundle": "there", "set": "[cluster.worker.replicas=2,cni=none]", "values": "[" + other +
				"]", "engine-address": ""}},
		"a source is one": {[]string{"up", "kubeadm-capd", "--source", "embedded"},
			map[string]string{"source": "embedded", "source-url": ""}},
		"another cluster": {[]string{"status", "kubeadm-capd", "--set", "cluster.name=b"},
			map[string]string{"bundle": ""}},
		"another environment": {[]string{"status", "rke2-capd"}, map[string]string{"bundle": ""}},
		"one that renders":    {[]string{"render", "kubeadm-capd"}, map[string]string{"bundle": "", "set": "[]"}},
		"cleanup by itself":   {[]string{"cleanup", "kubeadm-capd"}, map[string]string{"set": "[]"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, args := command(t, tc.args...)
			said, err := recall(c, args)
			if err != nil {
				t.Fatal(err)
			}
			for flag, want := range tc.want {
				if got := c.Flags().Lookup(flag).Value.String(); got != want {
					t.Errorf("--%s is %q, want %q", flag, got, want)
				}
			}
			if tc.want["bundle"] == here && !slices.Contains(said, "--bundle "+here) {
				t.Errorf("it does not say so: %q", said)
			}
		})
	}
}

// A flag that made a run fail does not come back with the next up; all that looks takes it, as the cluster has it.
func TestUpRepeatsNoFlagsOfARunThatFailed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	state := filepath.Join(home, "cluster-init", "kubeadm-capd")
	setsOf := func(args ...string) string {
		t.Helper()
		c, rest := command(t, args...)
		if _, err := recall(c, rest); err != nil {
			t.Fatal(err)
		}
		return c.Flags().Lookup("set").Value.String()
	}
	ran := func(completed bool, set string) {
		t.Helper()
		up, _ := command(t, "up", "kubeadm-capd", "--set", set)
		if err := remember(up.Flags(), "kubeadm-capd", state, completed); err != nil {
			t.Fatal(err)
		}
	}
	ran(false, "cluster.image=first-typo")
	if up, status := setsOf("up", "kubeadm-capd"), setsOf("status", "kubeadm-capd"); up != "[]" ||
		status != "[cluster.image=first-typo]" {
		t.Errorf("after a first run that failed: up %s, status %s", up, status)
	}
	ran(true, "cluster.worker.replicas=2")
	ran(false, "cluster.image=typo")
	for command, want := range map[string]string{
		"up": "[cluster.worker.replicas=2]", "check": "[cluster.worker.replicas=2]",
		"status": "[cluster.image=typo]", "down": "[cluster.image=typo]",
	} {
		if got := setsOf(command, "kubeadm-capd"); got != want {
			t.Errorf("%s takes %s, want %s", command, got, want)
		}
	}
}

// Flags that were remembered lead no command to another cluster.
func TestWhatIsRememberedNamesNoOtherCluster(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	values := filepath.Join(t.TempDir(), "v.yaml")
	if err := os.WriteFile(values, []byte("cni: none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	up, _ := command(t, "up", "kubeadm-capd", "--values", values, "--set", "cluster.name=other")
	if err := remember(up.Flags(), "kubeadm-capd", filepath.Join(home, "cluster-init", "kubeadm-capd"),
		true); err != nil {
		t.Fatal(err)
	}
	c, args := command(t, "down", "kubeadm-capd")
	if _, err := recall(c, args); err != nil || c.Flags().Lookup("set").Value.String() != "[]" {
		t.Errorf("--set is %s, %v", c.Flags().Lookup("set").Value, err)
	}
	if err := os.WriteFile(values, []byte("cluster: {name: other}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, args = command(t, "down", "kubeadm-capd")
	if _, err := recall(c, args); err == nil || !strings.Contains(err.Error(), "another cluster") {
		t.Errorf("it is led to another cluster: %v", err)
	}
}

// A file that cannot be read is not the same as none.
func TestInputsThatCannotBeRead(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	state := filepath.Join(home, "cluster-init", "kubeadm-capd")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{", `{"schemaVersion":2}`} {
		if err := os.WriteFile(filepath.Join(state, inputsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, args := command(t, "status", "kubeadm-capd")
		if _, err := recall(c, args); err == nil || !strings.Contains(err.Error(), inputsFile) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Each flag of the source is remembered with the others: without one of them, a later run would read something else.
func TestAllFlagsOfTheSourceAreRecalled(t *testing.T) {
	up, _ := command(t, "up", "kubeadm-capd")
	remembered := slices.Concat(recalled()...)
	up.Flags().VisitAll(func(f *pflag.Flag) {
		ofSource := f.Name == "source" || strings.HasPrefix(f.Name, "source-")
		if ofSource && !slices.Contains(remembered, f.Name) {
			t.Errorf("--%s is not remembered", f.Name)
		}
		if isFile := strings.Contains(f.Usage, "file "); ofSource && isFile && !slices.Contains(holdsPaths(), f.Name) {
			t.Errorf("--%s is a path, and is remembered as it was written", f.Name)
		}
	})
}
