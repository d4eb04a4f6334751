package definitions_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/definitions"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
)

// A template that changes without definitions.json would have to change under its old name, which the API server
// refuses.
func TestTheChartKnowsTheDefinitions(t *testing.T) {
	all, err := definitions.Of(clusterinit.Content())
	if err != nil {
		t.Fatal(err)
	}
	text, err := all.Encode()
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../"+definitions.File, text)
}

const (
	at       = "./kustomize-components/cluster/x"
	machine  = "kind: DevMachineTemplate\nspec: {template: {spec: {image: a}}}\n"
	patch    = "- {op: replace, path: /spec/template/spec/image, value: a}\n"
	pipeline = "kind: MachineDeployment\nspec: {replicas: 1}\n"
)

// TestWhatIsInTheHash changes one thing at a time.
func TestWhatIsInTheHash(t *testing.T) {
	base := map[string]string{"x/kustomization.yaml": "resources: [machine.yaml, pool.yaml]\n",
		"x/machine.yaml": machine, "x/pool.yaml": pipeline,
		"x/patch.yaml": patch, "x/more.yaml": pipeline + "--- # the next\n" + machine + "---\t\n" + pipeline,
		"shared/kustomization.yaml": "resources: [more.yaml]\n", "shared/more.yaml": machine}
	first := hashOf(t, base, nil)
	if first == "" {
		t.Fatal("no definition")
	}
	for name, test := range map[string]struct {
		change map[string]string
		other  bool
	}{
		"the template": {map[string]string{"x/machine.yaml": strings.Replace(machine, "a", "b", 1)},
			true},
		"a template after a separator with a comment": {map[string]string{"x/more.yaml": pipeline +
			"--- # the next\n" + strings.Replace(machine, "a", "b", 1)}, true},
		"a template on the line of its separator": {map[string]string{"x/more.yaml": pipeline +
			"--- {kind: DevMachineTemplate, spec: {template: {spec: {image: b}}}}\n"}, true},
		"another separator": {map[string]string{"x/more.yaml": pipeline + "---\n" + machine}, false},
		"a JSON patch": {map[string]string{"x/patch.yaml": strings.Replace(patch, "value: a", "value: b", 1)},
			true},
		"its comments": {map[string]string{"x/machine.yaml": "# why\n" + machine}, false},
		"another object": {map[string]string{"x/pool.yaml": strings.Replace(pipeline, "1", "2", 1)},
			false},
		"a patch": {map[string]string{"x/kustomization.yaml": "resources: [machine.yaml, " +
			"pool.yaml]\npatches: [{patch: x}]\n"}, true},
		"a template from another folder": {map[string]string{"x/kustomization.yaml": "resources: [machine.yaml, " +
			"pool.yaml, ../shared]\n"}, true},
		"a folder that is not used": {map[string]string{"shared/more.yaml": strings.Replace(machine, "a", "b", 1)},
			false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hashOf(t, base, test.change); (got != first) != test.other {
				t.Errorf("hash %s, before %s", got, first)
			}
		})
	}
}

// What is no manifest is refused, and not ignored.
func TestUnreadableDefinitions(t *testing.T) {
	for name, text := range map[string]string{"x.yaml": machine + "--- # next\nkind: [\n", "y.yaml": "s3cret\n",
		"kustomization.yaml": "- a\n"} {
		_, err := definitions.Of(fstest.MapFS{"kustomize-components/cluster/x/" + name: &fstest.MapFile{
			Data: []byte(text)}})
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// hashOf is the hash of the definition x.
func hashOf(t *testing.T, base, change map[string]string) string {
	t.Helper()
	content := fstest.MapFS{}
	for _, files := range []map[string]string{base, change} {
		for name, text := range files {
			content["kustomize-components/cluster/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	all, err := definitions.Of(content)
	if err != nil {
		t.Fatal(err)
	}
	return all[at].Templates
}

// TestCheck compares a repository's definitions.json with its definitions.
func TestCheck(t *testing.T) {
	const cluster = "kustomize-components/cluster/x/"
	content := fstest.MapFS{cluster + "machine.yaml": &fstest.MapFile{Data: []byte(machine)}}
	put := func(text string) { content[definitions.File] = &fstest.MapFile{Data: []byte(text)} }
	all, err := definitions.Of(content)
	if err != nil {
		t.Fatal(err)
	}
	text, err := all.Encode()
	if err != nil {
		t.Fatal(err)
	}
	put(string(text))
	if err := definitions.Check(content); err != nil {
		t.Errorf("refused: %v", err)
	}
	content[cluster+"machine.yaml"].Data = []byte(strings.Replace(machine, "image: a", "image: b", 1))
	err = definitions.Check(content)
	if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), at) {
		t.Fatalf("a changed template: %v", err)
	}
	_, fix, _ := strings.Cut(fault.HintOf(err), "with: ")
	put(fix)
	if err := definitions.Check(content); err != nil {
		t.Errorf("what the hint says is refused: %v", err)
	}
	put(`{"` + at + `": "` + mustDecode(t, fix)[at].Templates + `"}`)
	if err := definitions.Check(content); err != nil {
		t.Errorf("the form of an earlier chart is refused: %v", err)
	}
	for name, text := range map[string]string{
		"of an older chart": `{"` + at + `": "5944d9ff46c0bfcb"}`, "no JSON": "x",
		"one more": strings.Replace(fix, "{", `{"./gone": {"templates": "1"},`, 1), "empty": "{}",
	} {
		put(text)
		if err := definitions.Check(content); fault.CodeOf(err) != fault.EnvironmentInvalid || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckOfOwnDefinitions checks definitions in other folders: components.cluster.path may name any. What they read
// from another server is not in the content.
func TestCheckOfOwnDefinitions(t *testing.T) {
	const own = "./clusters/mine"
	remote := "github.com/example/cluster?ref=v1"
	content := fstest.MapFS{
		"clusters/remote/kustomization.yaml": &fstest.MapFile{Data: []byte("resources: ['" + remote +
			"']\n")},
		"clusters/mine/machine.yaml": &fstest.MapFile{Data: []byte(machine)},
		"clusters/mine/kustomization.yaml": &fstest.MapFile{Data: []byte("resources: [machine.yaml, '" +
			remote + "']")},
		"kustomize-components/cluster/x/machine.yaml":    &fstest.MapFile{Data: []byte(machine)},
		"kustomize-components/cluster/shared/other.yaml": &fstest.MapFile{Data: []byte(pipeline)},
		definitions.File: &fstest.MapFile{},
	}
	content[definitions.File].Data = []byte(
		`{"` + own + `": {"templates": "0"}, "./clusters/remote": {"templates": "1"}}`)
	err := definitions.Check(content)
	_, fix, _ := strings.Cut(fault.HintOf(err), "with: ")
	if err == nil || !strings.Contains(err.Error(), own) || !strings.Contains(fix, own) || !strings.Contains(fix, at) {
		t.Fatalf("%v\nhint: %s", err, fault.HintOf(err))
	}
	content[definitions.File].Data = []byte(fix)
	if err := definitions.Check(content); err != nil {
		t.Errorf("what the hint says is refused: %v", err)
	}
	content["clusters/mine/machine.yaml"].Data = []byte(strings.Replace(machine, "image: a", "image: b", 1))
	err = definitions.Check(content)
	if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), "describe "+own+":") {
		t.Errorf("a changed template: %v", err)
	}
}

// TestCheckUsed refuses what a release would suffer from, and nothing else.
func TestCheckUsed(t *testing.T) {
	const own, file = "./clusters/mine", "kustomize-components/cluster/x/machine.yaml"
	const stale = `{"templates": "0"}`
	all, err := definitions.Of(fstest.MapFS{file: &fstest.MapFile{Data: []byte(machine)}})
	if err != nil {
		t.Fatal(err)
	}
	good := `{"templates": "` + all[at].Templates + `"}`
	other := `{"templates": "` + all[at].Templates + `", "commands": ["X"]}`
	for name, tc := range map[string]struct {
		path, known     string // known is the content of File; empty: there is none
		refused, hashed bool
	}{
		"as it is":                      {at, `{"` + at + `": ` + good + `}`, false, true},
		"in the form of earlier charts": {at, `{"` + at + `": "` + all[at].Templates + `"}`, false, true},
		"together with a missing one":   {at, `{"` + at + `": ` + good + `, "./gone": ` + stale + `}`, false, true},
		"together with a stale one": {at, `{"` + at + `": ` + good + `, "` + own + `": ` + stale + `}`, false,
			true},
		"stale":          {at, `{"` + at + `": ` + stale + `}`, true, false},
		"other commands": {at, `{"` + at + `": ` + other + `}`, true, false},
		"other lists": {at, `{"` + at + `": ` + strings.Replace(good, "}", `, "lists": {"X": ["a"]}}`, 1) + `}`, true,
			false},
		"not named":                      {at, `{}`, true, false},
		"no file":                        {at, "", true, false},
		"no JSON":                        {at, "x", true, false},
		"an own one as it is":            {own, `{"` + own + `": ` + good + `}`, false, true},
		"an own one that is stale":       {own, `{"` + own + `": ` + stale + `}`, true, false},
		"an own one that is not named":   {own, `{}`, false, false},
		"an own one named without hash":  {own, `{"` + own + `": {}}`, false, false},
		"an own one and no file":         {own, "", false, false},
		"an own one without templates":   {"./clusters/remote", `{"./clusters/remote": ` + stale + `}`, false, true},
		"a folder that is not there":     {"./clusters/gone", `{}`, false, true},
		"a folder that is not there too": {"./kustomize-components/cluster/gone", `{}`, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			content := fstest.MapFS{
				file:                         &fstest.MapFile{Data: []byte(machine)},
				"clusters/mine/machine.yaml": &fstest.MapFile{Data: []byte(machine)},
				"clusters/remote/pool.yaml":  &fstest.MapFile{Data: []byte(pipeline)},
				"kustomize-components/cluster/broken/x.yml": &fstest.MapFile{Data: []byte("{")},
			}
			if tc.known != "" {
				content[definitions.File] = &fstest.MapFile{Data: []byte(tc.known)}
			}
			hashed, err := definitions.CheckUsed(content, tc.path)
			if hashed != tc.hashed || (err != nil) != tc.refused {
				t.Fatalf("hashed %t, %v", hashed, err)
			}
			if err == nil {
				return
			}
			if fault.CodeOf(err) != fault.EnvironmentInvalid || fault.HintOf(err) == "" {
				t.Errorf("%v\nhint: %s", err, fault.HintOf(err))
			}
			if _, fix, is := strings.Cut(fault.HintOf(err), "with: "); is {
				content[definitions.File] = &fstest.MapFile{Data: []byte(fix)}
				if hashed, err := definitions.CheckUsed(content, tc.path); err != nil || !hashed {
					t.Errorf("what the hint says: hashed %t, %v", hashed, err)
				}
			}
		})
	}
}

func mustDecode(t *testing.T, text string) definitions.Definitions {
	t.Helper()
	d, err := definitions.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Lists are known by their paths below the configuration of machines, whatever else is in an object.
func TestLists(t *testing.T) {
	const controlPlane = `
kind: KubeadmControlPlane
spec:
  others: [1]
  kubeadmConfigSpec:
    clusterConfiguration: {apiServer: {certSANs: [a]}, scheduler: {extraArgs: "${LIST}"}}
    files: [{path: /a, content: [b]}]
---
kind: RKE2ConfigTemplate
spec: {template: {spec: {agentConfig: {kubelet: {extraArgs: []}}}}}
---
kind: RKE2ConfigTemplate
spec: {template: {spec: {files: [], agentConfig: {kubelet: {extraArgs: [a]}}}}}
`
	all, err := definitions.Of(fstest.MapFS{
		"kustomize-components/cluster/x/a.yaml": &fstest.MapFile{Data: []byte(controlPlane)}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"KubeadmControlPlane": {"clusterConfiguration/apiServer/certSANs", "files"},
		"RKE2ConfigTemplate": {"agentConfig/kubelet/extraArgs", "files"}}
	if got := all[at].Lists; !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, want %v", got, want)
	}
}
