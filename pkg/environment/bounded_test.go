package environment_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// A few megabytes of a stranger must not ask for memory or time without end, whichever file they are in.
func TestTheWorkOfAFolderIsBounded(t *testing.T) {
	var keys, variables strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for i := range 3000 {
		fmt.Fprintf(&variables, "k%d: ${CLUSTER_INIT_VAR_%d}\n", i, i)
	}
	onCapd := "resources: [../kubeadm-capd, more.yaml]\n" + strings.TrimPrefix(onBase, "resources: [../base]\n")
	for what, bomb := range map[string]struct{ text, want string }{
		"aliases of a text": {"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n",
			"too large"},
		"keys":      {keys.String(), "too large"},
		"brackets":  {"a: [" + strings.Repeat("[],", 1<<20) + "]\n", "too large"},
		"nesting":   {"a: " + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "\n", "too large"},
		"variables": {variables.String(), "more than 2000 variables"},
	} {
		for file, files := range map[string]map[string]string{
			"environment.yaml": {"environment.yaml": bomb.text},
			"values.yaml":      {"environment.yaml": "from: kubeadm-capd", "values.yaml": bomb.text},
			"secrets.yaml":     {"environment.yaml": "from: kubeadm-capd", "secrets.yaml": bomb.text},
			"kustomized":       {"kustomization.yaml": onBase, "values.yaml": bomb.text},
			"more.yaml": {"kustomization.yaml": onCapd, "values.yaml": "a: b",
				"more.yaml": "kind: ConfigMap\n" + bomb.text},
			"elsewhere": nil,
			"--values":  nil,
		} {
			if what == "variables" && (file == "environment.yaml" || file == "more.yaml" || file == "elsewhere") {
				continue // none is filled in there
			}
			options := environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content()}
			switch file {
			case "--values":
				options.ValuesFiles = []string{filepath.Join(folder(t, map[string]string{"v.yaml": bomb.text}),
					"v.yaml")}
			case "elsewhere":
				files = map[string]string{"environment.yaml": "from: " +
					folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd", "secrets.yaml": bomb.text})}
				fallthrough
			default:
				options.Name = folder(t, files)
			}
			if _, err := environment.Load(t.Context(), options); fault.CodeOf(err) != fault.EnvironmentInvalid ||
				!strings.Contains(err.Error(), bomb.want) || fault.HintOf(err) == "" {
				t.Errorf("%s in %s: %.300v", what, file, err)
			}
		}
	}
}
