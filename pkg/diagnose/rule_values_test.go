package diagnose

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// A remedy that speaks of values names them, and the chart's schema has each: who reads it finds the key.
func TestValuesOfRemediesExist(t *testing.T) {
	content, err := os.ReadFile("../../charts/telco-cloud-init/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(content, &schema); err != nil {
		t.Fatal(err)
	}
	if hasKey(schema, []string{"cluster", "flavour"}) || !hasKey(schema, []string{"components", "*", "enabled"}) {
		t.Fatal("the schema is not read as it should be")
	}
	for _, rule := range readRules(t) {
		for _, key := range rule.Values {
			if !hasKey(schema, strings.Split(key, ".")) {
				t.Errorf("%s names the value %s, which the schema does not have", rule.Name, key)
			}
		}
		if strings.Contains(rule.Cure, "in the values") && len(rule.Values) == 0 && !strings.Contains(rule.Cure, "that the message names") {
			t.Errorf("%s speaks of values and names none: %s", rule.Name, rule.Cure)
		}
	}
}

// hasKey reports whether a schema has a key; a star stands for a name, and a partial object of others' API holds any key.
func hasKey(schema map[string]any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if items, is := schema["items"].(map[string]any); is {
		return hasKey(items, path)
	}
	properties, _ := schema["properties"].(map[string]any)
	if next, is := properties[path[0]].(map[string]any); is {
		return hasKey(next, path[1:])
	}
	if more, is := schema["additionalProperties"].(map[string]any); is && path[0] == "*" {
		return hasKey(more, path[1:])
	}
	return false
}
