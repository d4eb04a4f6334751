package environment_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// What is refused is what the table of Cluster API's own release does not list.
func TestKubernetesVersionsAreThoseOfClusterAPI(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}} {{.Dir}}",
		"sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	release, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	page, err := os.ReadFile(filepath.Join(dir, "docs", "book/src/reference/versions.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "### Core provider")
	table, _, _ = strings.Cut(table, "\n\nSee also")
	header := regexp.MustCompile(`(?m)^\|\s*\|.*$`).FindString(table)
	minor := release[:strings.LastIndex(release, ".")]
	column := -1
	for i, cell := range strings.Split(header, "|") {
		if strings.HasPrefix(strings.TrimSpace(cell), minor) {
			column = i
		}
	}
	if !found || column < 0 {
		t.Fatalf("the table has no column for %s: %s", minor, header)
	}
	listed := map[int]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| Kubernetes v1\.(\d+) .*$`).FindAllStringSubmatch(table, -1) {
		var n int
		if _, err := fmt.Sscan(row[1], &n); err != nil {
			t.Fatal(err)
		}
		listed[n] = strings.TrimSpace(strings.Split(row[0], "|")[column])
	}
	for n := 28; n < 41; n++ {
		for workload, supported := range map[bool]bool{true: listed[n] != "",
			false: listed[n] != "" && !strings.Contains(listed[n], "only workload")} {
			env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Workload: workload,
				Content: clusterinit.Content(), Variables: variables(nil),
				Sets: []string{fmt.Sprintf("cluster.kubernetes_version=v1.%d.4", n)}})
			if err != nil {
				t.Fatal(err)
			}
			if err := env.CheckKubernetesVersion(); (err == nil) != supported ||
				err != nil && fault.CodeOf(err) != fault.ValuesInvalid {
				t.Errorf("1.%d, workload %t: %v; the table says %q", n, workload, err, listed[n])
			}
		}
	}
}
