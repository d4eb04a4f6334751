package environment_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
)

const chartTemplates = "charts/telco-cloud-init/templates"

// templatesByFolder returns the text of the chart's templates: by folder below templates, "" for templates itself, and
// by file.
func templatesByFolder(t *testing.T) map[string]map[string]string {
	t.Helper()
	found := map[string]map[string]string{}
	err := fs.WalkDir(clusterinit.Content(), chartTemplates, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(clusterinit.Content(), file)
		folder := strings.Trim(strings.TrimPrefix(path.Dir(file), chartTemplates), "/")
		if found[folder] == nil {
			found[folder] = map[string]string{}
		}
		found[folder][path.Base(file)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// captures are the first groups of all matches in texts, sorted, each once.
func captures(pattern string, texts ...string) []string {
	found := map[string]bool{}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
		found[match[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// What is so for one infrastructure only is in its folder: templates outside ask the environment's provider by the
// templates that each folder defines. Docker may be named outside, as values of the cluster are called after its
// socket.
func TestTemplatesOfProviders(t *testing.T) {
	const seam = "_providers.tpl"
	folders := templatesByFolder(t)
	words := map[string]*regexp.Regexp{
		"aws": regexp.MustCompile(`(?i)\bcapa\b|aws`), "docker": regexp.MustCompile(`\bcapd\b`),
		"openstack": regexp.MustCompile(`(?i)\bcapo\b|openstack`),
	}
	if got, want := slices.Sorted(maps.Keys(folders))[1:], slices.Sorted(maps.Keys(words)); !slices.Equal(got, want) {
		t.Fatalf("the chart has the folders %v, want %v", got, want)
	}
	for folder, files := range folders {
		for file, text := range files {
			for provider, word := range words {
				if name := word.FindString(text); name != "" && folder != provider && !(folder == "" && file == seam) {
					t.Errorf("%s speaks of %s: that belongs into the folder %s", path.Join(folder, file), name,
						provider)
				}
			}
		}
	}

	outside := slices.Collect(maps.Values(folders[""]))
	asked := append(captures(`"telco-cloud-init\.provider" \(dict "root" \S+ "template" "(\w+)"`, outside...), "check")
	slices.Sort(asked)
	if described := captures(`(?m)^     (\w+)  +\S`, folders[""][seam]); !slices.Equal(asked, described) {
		t.Errorf("%s describes %v, asked for are %v", seam, described, asked)
	}
	listed := strings.Fields(captures(`define "telco-cloud-init\.providers" -\}\}\n([a-z ]+)\n`, folders[""][seam])[0])
	for _, provider := range listed {
		defined := captures(`define "telco-cloud-init\.`+provider+`\.(\w+)"`, allTemplates(folders)...)
		if !slices.Equal(defined, asked) {
			t.Errorf("provider %s defines %v, asked for are %v", provider, defined, asked)
		}
	}
	schema, err := os.ReadFile("../../charts/telco-cloud-init/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	allowed := captures(`"(\w+)"`, captures(`(?s)"infra_provider": \{.*?"enum": \[(.*?)\]`, string(schema))...)
	if !slices.Equal(allowed, listed) {
		t.Errorf("the schema allows %v, %s lists %v", allowed, seam, listed)
	}
}

func allTemplates(folders map[string]map[string]string) []string {
	var all []string
	for _, files := range folders {
		all = slices.AppendSeq(all, maps.Values(files))
	}
	return all
}
