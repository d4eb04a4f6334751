package cli

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/diagnose"
)

var (
	namedCommand = regexp.MustCompile("`cluster-init ([a-z]+)")
	namedFlag    = regexp.MustCompile("(?:^|[ `(])(--[a-z][a-z-]+)")
	others       = regexp.MustCompile(`\b(kubectl|docker|openstack|etcdctl|flux|helm|kubeadm|crictl|ping|timedatectl) [^;,` + "`" + `]*`)
)

// A remedy that names a command of this binary, or a flag, names one that there is.
func TestRemediesNameCommandsAndFlagsThatExist(t *testing.T) {
	root := newRoot(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
	flags := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	rules, err := diagnose.Rules()
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, rule := range rules {
		for _, named := range namedCommand.FindAllStringSubmatch(rule.Cure, -1) {
			commands++
			if found, _, err := root.Find(named[1:2]); err != nil || found == root {
				t.Errorf("%s names the command %q, which does not exist", rule.Name, named[0])
			}
		}
		for _, flag := range namedFlag.FindAllStringSubmatch(others.ReplaceAllString(rule.Cure, ""), -1) {
			if !flags[flag[1]] {
				t.Errorf("%s names the flag %s, which does not exist", rule.Name, flag[1])
			}
		}
	}
	if commands < 5 || !flags["--kubeconfig"] {
		t.Errorf("%d commands and %d flags were read", commands, len(flags))
	}
}
