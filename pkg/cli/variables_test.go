package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestFlagsFromVariables(t *testing.T) {
	for name, tc := range map[string]struct {
		given   []string // on the command line
		environ []string
		mirrors []string
		strays  string
		refused string
	}{
		"none": {nil, []string{"PATH=/bin", "CLUSTER_INIT_DOWN_REGISTRY_MIRROR=x"}, nil, "", ""},
		"two": {nil, []string{"CLUSTER_INIT_UP_REGISTRY_MIRROR=a=b\nc=d\n"},
			[]string{"a=b", "c=d"}, "", ""},
		"the command line wins": {[]string{"--registry-mirror", "a=b"},
			[]string{"CLUSTER_INIT_UP_REGISTRY_MIRROR=c=d"}, []string{"a=b"}, "", ""},
		"empty": {nil, []string{"CLUSTER_INIT_UP_REGISTRY_MIRROR="}, nil, "", ""},
		"no such flag": {nil, []string{"CLUSTER_INIT_UP_REGISTRY_MIROR=x"}, nil,
			"did you mean CLUSTER_INIT_UP_REGISTRY_MIRROR?", ""},
		"nothing like it": {nil, []string{"CLUSTER_INIT_UP_SONG=x"}, nil,
			"CLUSTER_INIT_UP_SONG is set, and cluster-init up has no such flag", ""},
		"help is no flag for that": {nil, []string{"CLUSTER_INIT_UP_HELP=true"}, nil, "no such flag", ""},
		"of another type": {nil, []string{"CLUSTER_INIT_UP_API_SERVER_PORT=hunter2"}, nil, "",
			"--api-server-port, which is of type int32"},
		"a consent": {nil, []string{"CLUSTER_INIT_UP_ALLOW_CHANGES=x"}, nil, "",
			"--allow-changes is accepted on the command line only"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, err := Command().Find([]string{"up"})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.ParseFlags(tc.given); err != nil {
				t.Fatal(err)
			}
			strays, err := setFromVariables(c, tc.environ)
			switch {
			case tc.refused == "" && err != nil:
				t.Fatal(err)
			case tc.refused != "" && (fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), tc.refused) ||
				strings.Contains(err.Error(), "hunter2")):
				t.Errorf("the error is %v", err)
			}
			if got := strings.Join(strays, "; "); !strings.Contains(got, tc.strays) ||
				(got == "") != (tc.strays == "") {
				t.Errorf("strays: %q", got)
			}
			if mirrors, _ := c.Flags().GetStringArray("registry-mirror"); !slices.Equal(mirrors, tc.mirrors) {
				t.Errorf("the mirrors are %q", mirrors)
			}
		})
	}
}

// A variable of a command below another is none that the other one lacks.
func TestAVariableOfACommandBelowIsNoStray(t *testing.T) {
	for command, tc := range map[string]struct {
		variable string
		stray    bool
	}{
		"runs":  {"CLUSTER_INIT_RUNS_LIST_OUTPUT", false},
		"pivot": {"CLUSTER_INIT_PIVOT_PLAN_OUTPUT", false},
		"show":  {"CLUSTER_INIT_SHOW_VALUES_SET", false},
		"up":    {"CLUSTER_INIT_UP_SONG", true},
	} {
		c, _, err := Command().Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		strays, err := setFromVariables(c, []string{tc.variable + "=x"})
		if err != nil || (len(strays) > 0) != tc.stray {
			t.Errorf("%s, %s: %q, %v", command, tc.variable, strays, err)
		}
	}
}

// Where flags do not go together, what was typed counts, and not what a variable says; of two variables neither is
// meant more.
func TestAVariableGivesWayToWhatIsTyped(t *testing.T) {
	for name, tc := range map[string]struct {
		command string
		typed   []string
		flag    string
		set     bool
	}{
		"a report of no run":           {"up", []string{"x", "--dry-run"}, "report", false},
		"a report of a run":            {"up", []string{"x"}, "report", true},
		"a report of no dry run":       {"up", []string{"x", "--dry-run=false"}, "report", true},
		"a dry run stays one":          {"up", []string{"x", "--report", "r.html"}, "dry-run", true},
		"a file without clusters":      {"diagnose", []string{"--from", "f"}, "kubeconfig", false},
		"clusters without a file":      {"diagnose", []string{"x"}, "from", false},
		"a key for a file":             {"diagnose", []string{"x"}, "identity", false},
		"a key for the file":           {"diagnose", []string{"--from", "f"}, "identity", true},
		"a cluster and no file":        {"diagnose", []string{"--kubeconfig", "k"}, "from", false},
		"a file, and nothing is typed": {"diagnose", nil, "from", true},
		"a form, and a graph":          {"render", []string{"x", "--graph", "dot"}, "output", false},
		"a graph, and a form":          {"render", []string{"x", "-o", "json"}, "graph", false},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, err := Command().Find([]string{tc.command})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.ParseFlags(tc.typed); err != nil {
				t.Fatal(err)
			}
			value := "json"
			if c.Flags().Lookup(tc.flag).Value.Type() == "bool" {
				value = "true"
			}
			if _, err := setFromVariables(
				c, []string{variablePrefix(c) + variableName(tc.flag) + "=" + value}); err != nil {
				t.Fatal(err)
			}
			if got := c.Flags().Changed(tc.flag); got != tc.set {
				t.Errorf("set: %t, want %t", got, tc.set)
			}
		})
	}
}

// Each flag that agrees to something is one that exists, so that none is forgotten when it gets another name.
func TestConsentsAreFlags(t *testing.T) {
	for _, consent := range consents() {
		found := false
		for _, c := range Command().Commands() {
			found = found || c.Flags().Lookup(consent) != nil
		}
		if !found {
			t.Errorf("no command has --%s", consent)
		}
	}
}
