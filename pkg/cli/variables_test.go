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
		"none":                     {nil, []string{"PATH=/bin", "CLUSTER_INIT_DOWN_REGISTRY_MIRROR=x"}, nil, "", ""},
		"two":                      {nil, []string{"CLUSTER_INIT_UP_REGISTRY_MIRROR=a=b\nc=d\n"}, []string{"a=b", "c=d"}, "", ""},
		"the command line wins":    {[]string{"--registry-mirror", "a=b"}, []string{"CLUSTER_INIT_UP_REGISTRY_MIRROR=c=d"}, []string{"a=b"}, "", ""},
		"empty":                    {nil, []string{"CLUSTER_INIT_UP_REGISTRY_MIRROR="}, nil, "", ""},
		"no such flag":             {nil, []string{"CLUSTER_INIT_UP_REGISTRY_MIROR=x"}, nil, "did you mean CLUSTER_INIT_UP_REGISTRY_MIRROR?", ""},
		"nothing like it":          {nil, []string{"CLUSTER_INIT_UP_SONG=x"}, nil, "CLUSTER_INIT_UP_SONG is set, and cluster-init up has no such flag", ""},
		"help is no flag for that": {nil, []string{"CLUSTER_INIT_UP_HELP=true"}, nil, "no such flag", ""},
		"of another type":          {nil, []string{"CLUSTER_INIT_UP_API_SERVER_PORT=hunter2"}, nil, "", "--api-server-port, which is of type int32"},
		"a consent":                {nil, []string{"CLUSTER_INIT_UP_ALLOW_CHANGES=x"}, nil, "", "--allow-changes is given on the command line only"},
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
			case tc.refused != "" && (fault.CodeOf(err) != fault.Usage || !strings.Contains(err.Error(), tc.refused) || strings.Contains(err.Error(), "hunter2")):
				t.Errorf("the error is %v", err)
			}
			if got := strings.Join(strays, "; "); !strings.Contains(got, tc.strays) || (got == "") != (tc.strays == "") {
				t.Errorf("strays: %q", got)
			}
			if mirrors, _ := c.Flags().GetStringArray("registry-mirror"); !slices.Equal(mirrors, tc.mirrors) {
				t.Errorf("the mirrors are %q", mirrors)
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
