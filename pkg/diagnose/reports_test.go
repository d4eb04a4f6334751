package diagnose

import (
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"
)

// report is a message from a public report, and the rules of which one may answer.
type report struct {
	Object string `json:"object"`
	Signal
	Version string   `json:"version"`
	Source  string   `json:"source"`
	Rules   []string `json:"rules"` // "" stands for no answer
}

// Rules answer what they were not written for: a wrong remedy is worse than none.
func TestRulesAnswerReports(t *testing.T) {
	content, err := os.ReadFile("testdata/reports.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var reports []report
	if err := yaml.UnmarshalStrict(content, &reports); err != nil {
		t.Fatal(err)
	}
	rules := readRules(t)
	answered := 0
	for _, r := range reports {
		found, _ := firstMatch(rules, parseRef(t, r.Object), []Signal{r.Signal})
		if r.Version == "" || r.Source == "" {
			t.Errorf("a report has a version and a source: %q", r.Message)
		}
		if !slices.Contains(r.Rules, found.Rule) {
			t.Errorf("%s answers %q, want one of %v", found.Rule, r.Message, r.Rules)
		} else if found.Rule != "" {
			answered++
		}
	}
	if answered*32 < len(reports)*28 { // 28 of 32
		t.Errorf("%d of %d reports are answered", answered, len(reports))
	}
}
