package manifests_test

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/golden"
	"github.com/cluster-init/cluster-init/pkg/manifests"
	"github.com/cluster-init/cluster-init/pkg/redact"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// password is in the environment's Secret, in a Secret of a component, and in plain sight in a ConfigMap of one.
const password = "pa55word-of-the-proxy"

func load(t *testing.T, sets ...string) *environment.Environment {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: sets})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// tree has a folder for each component of env, with the same two objects.
func tree(t *testing.T, env *environment.Environment) content.Tree {
	t.Helper()
	paths, err := env.ComponentPaths()
	if err != nil {
		t.Fatal(err)
	}
	tree := content.Tree{}
	for _, folder := range paths {
		tree[path.Join(folder, "kustomization.yaml")] = []byte("resources: [objects.yaml]\n")
		tree[path.Join(folder, "objects.yaml")] = []byte(twoObjects)
	}
	return tree
}

const twoObjects = `apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: x}
data: {password: c2VjcmV0LW9mLXRoZS1jb21wb25lbnQ=}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: x}
data: {proxy: "http://me:` + password + `@proxy.example:3128", answer: "${UNKNOWN:=42}"}
`

func TestRender(t *testing.T) {
	env := load(t, "proxies.https_proxy=http://me:"+password+"@proxy.example:3128")
	r, err := manifests.Render(t.Context(), env, environment.Bootstrap, nil, tree(t, env))
	if err != nil {
		t.Fatal(err)
	}
	known := redact.New()
	for _, document := range env.SecretDocuments() {
		known.Add(redact.FromValues(document)...)
	}
	var text bytes.Buffer
	if err := r.Masked(known).Print(&text); err != nil {
		t.Fatal(err)
	}
	document, err := json.Marshal(r.Masked(known))
	if err != nil {
		t.Fatal(err)
	}
	for form, shown := range map[string]string{"YAML": text.String(), "JSON": string(document)} {
		for _, secret := range []string{password, "c2VjcmV0LW9mLXRoZS1jb21wb25lbnQ", "secret-of-the-component"} {
			if strings.Contains(shown, secret) {
				t.Errorf("the %s holds %q", form, secret)
			}
		}
		for _, part := range []string{"management-cluster-values", "management-cluster-secrets",
			"telco-cloud-init-bootstrap-values", "cert-manager", "settings", "42", "https_proxy"} {
			if !strings.Contains(shown, part) {
				t.Errorf("the %s does not hold %q", form, part)
			}
		}
	}
	before, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(before), password) {
		t.Errorf("masking has changed what was rendered (%v)", err)
	}
}

// Each part of the stream is YAML by itself, and the whole is one stream of objects.
func TestPrintIsAStreamOfObjects(t *testing.T) {
	env := load(t)
	r, err := manifests.Render(t.Context(), env, environment.Management, nil, tree(t, env))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := len(r.Values) + len(r.Chart)
	for _, c := range r.Components {
		want += len(c.Objects)
		if c.Source == environment.ReleaseName && len(c.Objects) != 2 {
			t.Errorf("component %s has %d objects, want 2", c.Name, len(c.Objects))
		}
	}
	if got := strings.Count(out.String(), "---\n"); got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
}

func TestRenderNamesTheComponentThatIsWrong(t *testing.T) {
	env := load(t)
	broken := tree(t, env)
	broken["kustomize-components/capi/objects.yaml"] = []byte("kind: [")
	_, err := manifests.Render(t.Context(), env, environment.Management, nil, broken)
	if fault.CodeOf(err) != fault.EnvironmentInvalid || !strings.Contains(err.Error(), "component capi") ||
		fault.HintOf(err) == "" {
		t.Errorf("got %v, hint %q", err, fault.HintOf(err))
	}
}

func TestAComponentOfItsOwnRepositoryIsNotRendered(t *testing.T) {
	env := load(t, "components.own.enabled=true", "components.own.repo=own",
		"git_repo_templates.own.url=https://git.example/own.git")
	r, err := manifests.Render(t.Context(), env, environment.Management, nil, tree(t, env))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Components {
		if c.Name == "own" && (len(c.Objects) > 0 || !strings.Contains(c.Note, "not read")) {
			t.Errorf("got %+v", c)
		}
	}
}

func TestGraphs(t *testing.T) {
	r, err := manifests.Render(t.Context(), load(t), environment.Bootstrap, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, graph := range manifests.Graphs() {
		golden.Check(t, "graph."+name, []byte(graph(r)))
	}
}

func TestMaskValues(t *testing.T) {
	values := map[string]any{"a": map[string]any{"public": "x", "password": "hunter22", "user": "me", "port": 1.0},
		"list": []any{"one"}, "off": false}
	secret := []map[string]any{{"a": map[string]any{"user": "me"}, "list": []any{"one"}, "off": false,
		"elsewhere": "y"}}
	got, err := json.Marshal(manifests.MaskValues(values, secret, redact.New()))
	const want = `{"a":{"password":"***","port":1,"public":"x","user":"***"},"list":["***"],"off":false}`
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
