package diagnose

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// Each rule must be the first to match each of its own examples, and say of it what the example says.
func TestRulesMatchTheirExamples(t *testing.T) {
	rules := readRules(t)
	for _, rule := range rules {
		t.Run(rule.Name, func(t *testing.T) {
			if rule.Cause == "" || rule.Remedy == "" || len(rule.Examples) == 0 {
				t.Fatal("a rule has a cause, a remedy and an example")
			}
			for _, example := range rule.Examples {
				found, matches := firstMatch(rules, parseRef(t, example.Object), []Signal{example.Signal})
				if !matches {
					t.Fatalf("no rule matches %+v", example)
				}
				if !slices.ContainsFunc(rules, func(r Rule) bool { return r.Name == found.Rule }) ||
					found.Cause != example.Cause {
					t.Errorf("%s says\n%s\nof the example, which wants\n%s", found.Rule, found.Cause, example.Cause)
				}
				if other := found.Rule; other != rule.Name && !sameExample(rules, other, example) {
					t.Errorf("%s matches first", other)
				}
			}
		})
	}
}

// What an object says while all goes well is no cause, however much it sounds like one.
func TestRulesLeaveAloneWhatGoesWell(t *testing.T) {
	for object, said := range map[string]Signal{
		"DevMachine/management/a": {Origin: "condition BootstrapCompleted", Reason: "NotReady",
			Message: "Running boostrap command [ /bin/sh -c kubeadm init --ignore-preflight-errors=all --config " +
				"/run/kubeadm/kubeadm.yaml ]"},
		"DevMachine/management/b": {Origin: "condition Ready", Reason: "NotReady", Message: "* BootstrapCompleted: " +
			"Running boostrap command [ kubeadm join --ignore-preflight-errors=SystemVerification ]"},
		"Pod/management/d": {Origin: "event", Reason: "Unhealthy", Message: "Readiness probe: it took 407 ms"},
		"Machine/management/c": {Origin: "console", Message: "[ 30.1] cloud-init[900]: [init] Using Kubernetes " +
			"version: v1.36.4; kubeadm init --ignore-preflight-errors=all"},
	} {
		if found, matches := firstMatch(readRules(t), parseRef(t, object), []Signal{said}); matches {
			t.Errorf("%s says of %q: %s", found.Rule, said.Message, found.Cause)
		}
	}
}

// sameExample says whether another rule has the same example, of which both then say the same.
func sameExample(rules []Rule, name string, example Example) bool {
	for _, rule := range rules {
		if rule.Name == name {
			return slices.ContainsFunc(rule.Examples, func(e Example) bool { return e.Signal == example.Signal })
		}
	}
	return false
}

var variable = regexp.MustCompile(`\$\{?([A-Za-z0-9_-]+)\}?`)

// What a text names in ${…} must be there, or a person would read an empty place.
func TestRulesNameOnlyWhatThereIs(t *testing.T) {
	given := []string{"object", "kind", "object-name", "namespace", "reason", "message"}
	for _, rule := range readRules(t) {
		known := append(slices.Clone(given), rule.message.SubexpNames()...)
		for _, found := range variable.FindAllStringSubmatch(rule.Cause+" "+rule.Remedy, -1) {
			if !slices.Contains(known, found[1]) && found[1] != "$" && !strings.Contains(rule.Remedy, "$"+found[0]) {
				t.Errorf("%s names %s, which is nothing", rule.Name, found[0])
			}
		}
	}
}

func TestOneFileForEachRule(t *testing.T) {
	entries, err := os.ReadDir("rules")
	if err != nil {
		t.Fatal(err)
	}
	if rules := readRules(t); len(rules) != len(entries) || len(rules) < 60 {
		t.Errorf("%d rules of %d files", len(rules), len(entries))
	}
}

func readRules(t *testing.T) []Rule {
	t.Helper()
	rules, err := Rules()
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func parseRef(t *testing.T, text string) health.Ref {
	t.Helper()
	switch parts := strings.Split(text, "/"); len(parts) {
	case 2:
		return health.Ref{Kind: parts[0], Name: parts[1]}
	case 3:
		return health.Ref{Kind: parts[0], Namespace: parts[1], Name: parts[2]}
	}
	t.Fatalf("%q is no Kind/namespace/name", text)
	return health.Ref{}
}

// A remedy is printed as it is to be written: the text itself is $${NAME} in a manifest.
func TestTheRemedyForAVariableKeepsItsDollars(t *testing.T) {
	for _, rule := range readRules(t) {
		if rule.Name != "kustomize-substitution" {
			continue
		}
		found, _ := firstMatch([]Rule{rule}, parseRef(t, rule.Examples[0].Object), []Signal{rule.Examples[0].Signal})
		if want := "components.a.substitute, or write $${NAME} where"; !strings.Contains(found.Remedy, want) {
			t.Errorf("%q does not hold %q", found.Remedy, want)
		}
		return
	}
	t.Error("there is no such rule")
}
