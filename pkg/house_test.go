package pkg_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/cluster-init/cluster-init/pkg/"

// arrows says what each package of the house may import of it, and why. A package that is not listed may import
// nothing: a new one gets a line here, and a reason.
var arrows = map[string]struct {
	imports []string
	reason  string
}{
	"fault":       {nil, "every package may have errors with codes, so it stands on nothing"},
	"event":       {nil, "events are plain values that the core emits and views read"},
	"health":      {nil, "the state of an object is read from the object alone"},
	"owned":       {nil, "what is ours is a matter of names alone, and everybody must agree on them"},
	"pipeline":    {[]string{"event", "fault"}, "phases report events and fail with faults"},
	"render":      {[]string{"event"}, "views read events and nothing else, so that any run can be replayed into them"},
	"kube":        {[]string{"fault"}, "an adapter to one API server knows nothing of runs"},
	"docker":      {[]string{"fault"}, "an adapter to the Docker engine knows nothing of runs"},
	"kind":        {[]string{"fault"}, "an adapter to kind knows nothing of runs"},
	"flux":        {[]string{"kube"}, "an adapter to Flux, which is reached through an API server"},
	"capi":        {[]string{"health"}, "an adapter to Cluster API, which is reached through an API server"},
	"aws":         {[]string{"fault"}, "an adapter to AWS's chain of credentials knows nothing of environments"},
	"openstack":   {[]string{"fault"}, "an adapter to OpenStack knows nothing of environments or runs"},
	"artifact":    {[]string{"fault", "docker", "owned"}, "an adapter to registries, one of which runs in the Docker engine"},
	"redact":      {nil, "what is a secret, and how it is written, does not depend on who asks"},
	"evidence":    {[]string{"fault", "docker", "kind", "kube", "owned", "redact"}, "it reads clusters and the engine after a run, and knows nothing of how a run goes"},
	"parts":       {nil, "what is installed is read from the content and from the build information, and from nothing else"},
	"environment": {[]string{"fault", "owned"}, "an environment is a value: rendered and checked without any outside system"},
	"provider":    {[]string{"fault", "docker", "kind", "owned", "environment", "openstack", "aws"}, "the seam for infrastructure: adapters below it, and the environment that is asked for"},
	"lock":        {[]string{"fault"}, "one run at a time, whatever it does"},
	"pivot":       {[]string{"fault", "capi", "health", "owned"}, "a pivot is planned and judged from two API servers"},
	"internal":    {nil, "what tests share stands on nothing of the house, and only tests import it"},
	"cleanup":     {[]string{"fault", "docker", "kind", "openstack", "owned", "kube", "flux", "capi"}, "cleanup discovers and deletes in the Docker engine and in a cloud, and asks both clusters whether it may"},
	"bootstrap": {[]string{"fault", "event", "health", "owned", "pipeline", "environment", "provider", "artifact", "docker", "kind", "kube", "flux", "capi", "pivot"},
		"the phases of `up` bring the adapters together"},
	"cli": {[]string{"fault", "event", "pipeline", "render", "environment", "lock", "provider", "artifact", "openstack", "docker", "kind", "flux", "parts", "bootstrap", "cleanup", "evidence", "redact"},
		"the commands wire everything, and are the only ones to know the views"},
}

func TestArrowsOfTheHouse(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		from := strings.Split(filepath.ToSlash(file), "/")[0]
		rule, known := arrows[from]
		if !known {
			t.Errorf("%s: package %q has no line in the arrows of the house", file, from)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			rest, ours := strings.CutPrefix(imported, module)
			to := strings.Split(path.Clean(rest), "/")[0]
			if !ours || to == from {
				continue
			}
			allowed := false
			for _, name := range rule.imports {
				allowed = allowed || name == to
			}
			used[from+" "+to] = true
			if !allowed {
				t.Errorf("%s imports %s, but %s may import %v only: %s", file, to, from, rule.imports, rule.reason)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for from, rule := range arrows {
		for _, to := range rule.imports {
			if !used[from+" "+to] {
				t.Errorf("%s may import %s and does not: take the permission back", from, to)
			}
		}
	}
}

// Infrastructure providers are behind the seam: no other package may depend on a provider's name.
func TestNobodySwitchesOnAProvider(t *testing.T) {
	allowed := map[string]string{
		"cli/providers.go":       "chooses the provider",
		"environment/network.go": "the range of addresses of servers of OpenStack",
	}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		name := filepath.ToSlash(file)
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || allowed[name] != "" {
			return err
		}
		content, err := os.ReadFile(file)
		for _, provider := range []string{`"capd"`, `"capo"`, `"capa"`} {
			if strings.Contains(string(content), provider) {
				t.Errorf("%s names the provider %s: what differs by provider belongs into pkg/provider", name, provider)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
