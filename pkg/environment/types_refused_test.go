package environment_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// valuesFile writes values as a user does who wants the text in them to stay as it is.
func valuesFile(t *testing.T, values map[string]any) string {
	t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	escaped := strings.ReplaceAll(string(text), "${", "$${")
	for _, character := range "\x7f\u0085" { // which JSON holds as they are, and YAML does not
		escaped = strings.ReplaceAll(escaped, string(character), fmt.Sprintf(`\u%04x`, character))
	}
	file := filepath.Join(t.TempDir(), "more.yaml")
	if err := os.WriteFile(file, []byte(escaped), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// refusal loads an environment with values that must be refused, and returns what it says.
func refusal(t *testing.T, values map[string]any) string {
	t.Helper()
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capo", Content: clusterinit.Content(),
		Variables:   variables(allVariables()),
		ValuesFiles: []string{valuesFile(t, values)}})
	if fault.CodeOf(err) != fault.ValuesInvalid {
		t.Errorf("error %v with code %s", err, fault.CodeOf(err))
	}
	if err == nil {
		err = errors.New("nothing")
	}
	return err.Error()
}

// A text that a value cannot be is refused before anything is created, by the name of the value.
func TestTextThatDoesNotFitIsRefused(t *testing.T) {
	all := sources(t)
	for _, text := range []string{"0x1f", "yes", "$${NAME} $ $$ ${CLUSTER_NAME} {{ .Release.Name }}",
		"# two\nlines: true\n"} {
		t.Run(text, func(t *testing.T) {
			values := map[string]any{"components": map[string]any{"own": map[string]any{"path": "./own"}}}
			var want [][]string
			for _, source := range all {
				if source.pattern != nil && !source.pattern.MatchString(text) {
					put(values, source.path, text)
					want = append(want, source.path)
				}
			}
			said := refusal(t, values)
			for _, path := range want {
				pointer := "" // as JSON writes it: a key may hold a slash
				for _, key := range path {
					pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
				}
				if !strings.Contains(said, "'"+pointer+"'") &&
					!strings.Contains(said, ": "+strings.Join(path, ".")+": want ") {
					t.Errorf("nothing is said of %s", path)
				}
			}
			if len(want) < 15 {
				t.Errorf("only %d values do not fit: %s", len(want), want)
			}
		})
	}
}

// A number or a boolean is none that is given as text.
func TestTextIsNoNumber(t *testing.T) {
	values := map[string]any{"components": map[string]any{"own": map[string]any{"path": "./own"}}}
	var want []string
	visitSchema(t, func(path []string, schema map[string]any) {
		if types := []any{"integer", "boolean"}; !slices.Contains(types, schema["type"]) {
			return
		}
		want = append(want, "/"+strings.Join(path, "/"))
		put(values, path, map[any]string{"integer": "3", "boolean": "yes"}[schema["type"]])
	})
	said := refusal(t, values)
	for _, path := range want {
		if !strings.Contains(said, "'"+path+"': got string") {
			t.Errorf("nothing is said of %s", path)
		}
	}
	if len(want) < 12 {
		t.Errorf("only %d numbers and booleans: %s", len(want), want)
	}
}

// Helm leaves out all that is around such a character, and says nothing.
func TestControlCharactersAreRefused(t *testing.T) {
	for _, character := range []string{"\x00", "\x1b", "\x7f", "\u0085", "\ufeff"} {
		text := "a" + character + "b"
		said := refusal(t, map[string]any{"git_auth_default": map[string]any{"password": text},
			"cluster": map[string]any{"openstack": map[string]any{"control_plane_availability_zones": []any{"nova",
				text}}}})
		for _, path := range []string{"git_auth_default.password",
			"cluster.openstack.control_plane_availability_zones.1"} {
			if !strings.Contains(said, path+" holds a control character") {
				t.Errorf("%q: nothing is said of %s: %s", text, path, said)
			}
		}
		if strings.Contains(said, text) {
			t.Errorf("the error holds the value: %q", said)
		}
	}
}

// Flux takes variables as text: what it would change, or not take at all, is refused.
func TestVariablesOfComponents(t *testing.T) {
	for value, right := range map[any]bool{"": true, "tcp://192.0.2.7:2375": true, "unix:///run/docker.sock": true,
		"{{ .Values.cluster.docker_host }}": true, "{{- if true -}}\ntcp://a\n{{- end -}}": true,
		"040631e0": false, "null": false, "tcp://host:": false, "tcp://host #": false, "tcp://host\n": false} {
		_, err := environment.Load(t.Context(), environment.Options{Content: clusterinit.Content(),
			Name: "kubeadm-capd",
			ValuesFiles: []string{valuesFile(
				t,
				map[string]any{"components": map[string]any{"capd": map[string]any{"substitute": map[string]any{"CAPD_DOCKER_HOST": value}}}})}})
		if (err == nil) != right || err != nil &&
			!strings.Contains(err.Error(), "components.capd.substitute.CAPD_DOCKER_HOST") {
			t.Errorf("%q: %v, want right %v", value, err, right)
		}
	}
	said := refusal(
		t,
		map[string]any{"components": map[string]any{"capi": map[string]any{"substitute": map[string]any{"LINES": "a\nb",
			"no-name": "x"}}}})
	for _, want := range []string{"components.capi.substitute.LINES has a line break",
		`components.capi.substitute has "no-name"`} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing is said of %s: %s", want, said)
		}
	}
}

// Names of what a user brings along are text too, whatever YAML takes them for.
func TestNamesStayNames(t *testing.T) {
	for _, name := range []string{"1e5", "null", "0x1f"} {
		values := fmt.Sprintf(
			`{components: {%[1]q: {enabled: true, repo: %[1]q, labels: {%[1]q: %[1]q}, namespaces: [%[1]q]}}, git_auth_default: {password: p},
git_repo_templates: {%[1]q: {url: "https://git.example.org/x", ref: {commit: %[1]q}}}, registry_secret: {%[1]q: {username: u, password: p}},
cluster: {namespace: %[1]q, registry_mirrors: [{host: %[1]q, url: "http://mirror"}]}}`, name)
		file := filepath.Join(t.TempDir(), "more.yaml")
		if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
			t.Fatal(err)
		}
		env := load(t, environment.Options{ValuesFiles: []string{file}})
		for _, phase := range []environment.Phase{environment.Bootstrap, environment.Management} {
			rendered, err := env.Render(phase, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]int{}
			for path, leaf := range leaves(rendered) {
				if leaf.kind == "string" && leaf.text == name {
					found[path[strings.Index(path, " ")+1:]]++
				}
			}
			for path, want := range map[string]int{"Kustomization/metadata/name": 1, "Kustomization/metadata/labels/" +
				name: 1, "GitRepository/metadata/name": 1,
				"GitRepository/spec/ref/commit": 1, "Kustomization/spec/sourceRef/name": 1,
				"Namespace/metadata/name": 1,
				"Kustomization/spec/targetNamespace": map[environment.Phase]int{environment.Bootstrap: 1,
					environment.Management: 2}[phase],
				"Kustomization/metadata/namespace": map[environment.Phase]int{environment.Bootstrap: 2}[phase]} {
				if found[path] != want {
					t.Errorf("%s, %s: %d times the name at %s, want %d; it is at %v", name, phase, found[path], path,
						want, found)
				}
			}
		}
	}
}
