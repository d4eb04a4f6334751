package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/cli"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// visible are the commands that users see, in the order of their names: also those that are there for the ones below
// them.
func visible(c *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, below := range c.Commands() {
		if below.Hidden || below.Name() == "help" || below.Name() == "completion" {
			continue
		}
		all = append(append(all, below), visible(below)...)
	}
	return all
}

func TestEveryCommandHasAnExample(t *testing.T) {
	for _, c := range visible(cli.Command()) {
		if !strings.Contains(c.Example, "  "+c.CommandPath()) {
			t.Errorf("%s: its example is %q", c.CommandPath(), c.Example)
		}
		for _, line := range strings.Split(c.Example, "\n") {
			if line != "" && !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: a line of its example is not indented: %q", c.CommandPath(), line)
			}
		}
	}
}

// --output is plain by default, and the same everywhere where it is.
func TestOutputIsTheSameEverywhere(t *testing.T) {
	for _, c := range visible(cli.Command()) {
		f := c.Flags().Lookup("output")
		if c.HasSubCommands() {
			continue
		}
		if f == nil {
			if !slices.Contains([]string{"cluster-init kubeconfig", "cluster-init runs export",
				"cluster-init vm user-data", "cluster-init vm secrets"}, c.CommandPath()) {
				t.Errorf("%s has no --output", c.CommandPath())
			}
			continue
		}
		if f.DefValue != "plain" || f.Shorthand != "o" || !strings.Contains(f.Usage, "json") {
			t.Errorf("%s: --output is %+v", c.CommandPath(), f)
		}
	}
}

// An answer in JSON says what it is: every one that can be had without a cluster is asked for.
func TestEveryAnswerInJSONHasATypeAndAVersion(t *testing.T) {
	asked := map[string][]string{
		"check": {"kubeadm-capd"}, "collect": {"kubeadm-capd"}, "content": {"content"}, "diagnose": {"kubeadm-capd"},
		"diff": {"kubeadm-capd"}, "environments": nil, "explain": {"cni"},
		"init": {"kubeadm-capd", "mine"}, "runs list": nil, "runs show": {"run.jsonl"}, "show values": {"kubeadm-capd"},
		"status": {"kubeadm-capd"}, "version": nil,
	}
	// Those of which the answer is about a cluster, or needs a registry; a run answers with events.
	others := []string{"up", "down", "backup", "restore", "start", "cleanup", "publish", "render", "pivot plan",
		"pivot resume", "pivot rollback", "runs replay", "install", "uninstall", "workload apply", "workload list",
		"workload status", "workload diagnose", "workload delete", "workload render"}
	t.Chdir(t.TempDir())
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	run := `{"schemaVersion":1,"time":"2026-01-02T03:04:05Z","type":"run-started","command":"up","environment":"kubeadm-capd"}` + "\n"
	if err := os.WriteFile("run.jsonl", []byte(run), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range visible(cli.Command()) {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		args, is := asked[name]
		if !is {
			if c.Flags().Lookup("output") != nil && !slices.Contains(others, name) {
				t.Errorf("no test runs %s with -o json", name)
			}
			continue
		}
		t.Run(name, func(t *testing.T) {
			var out, err bytes.Buffer
			cli.Main(t.Context(), slices.Concat(strings.Fields(name), args, []string{"-o", "json"}),
				cli.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
			var answer struct {
				Type          string `json:"type"`
				SchemaVersion int    `json:"schemaVersion"`
			}
			if problem := json.Unmarshal(out.Bytes(), &answer); problem != nil || answer.Type == "" ||
				answer.SchemaVersion != 1 {
				t.Errorf("%v: %+v\n%s\n%s", problem, answer, &out, &err)
			}
		})
	}
}

// docs/reference/commands.md is made from the commands: go test ./pkg/cli -run Reference -update
func TestReference(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprint(&b, "# Command reference\n\nMade from the commands themselves; a test compares it. What holds for all "+
		"of them is in [usage](usage.md).\n")
	for _, c := range visible(cli.Command()) {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n    %s\n", c.CommandPath(), c.Short, c.UseLine())
		if c.Long != "" {
			fmt.Fprintf(&b, "\n%s\n", c.Long)
		}
		if !c.HasSubCommands() {
			fmt.Fprintf(&b, "\n| flag | default | what it does |\n|---|---|---|\n")
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Hidden {
				return
			}
			name := "`--" + f.Name + "`"
			if f.Shorthand != "" {
				name = "`-" + f.Shorthand + "`, " + name
			}
			standard := ""
			if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" {
				standard = "`" + f.DefValue + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, standard, strings.ReplaceAll(f.Usage, "|", "\\|"))
		})
		fmt.Fprintf(&b, "\nFor example:\n\n%s\n", strings.ReplaceAll("  "+strings.TrimSpace(c.Example), "\n  ",
			"\n    "))
	}
	text := strings.ReplaceAll(b.String(), "\nFor example:\n\n  ", "\nFor example:\n\n    ")
	golden.Check(t, "../../../docs/reference/commands.md", []byte(text))
}
