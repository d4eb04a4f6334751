package environment

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// What is secret by its name goes to a Secret wherever it stands, also inside of lists.
func TestSecretsInValuesOfTheUserGoToTheSecret(t *testing.T) {
	for name, text := range map[string]string{
		"DB_PASS":              "components: {x: {substitute: {DB_PASS: hidden}}}",
		"ENCRYPTION_KEY":       "components: {x: {substitute: {ENCRYPTION_KEY: hidden}}}",
		"GH_PAT":               "components: {x: {substitute: {GH_PAT: hidden}}}",
		"a key in a list":      "components: {x: {list: [{url: a}, {url: b, password: hidden}]}}",
		"deeper in a list":     "components: {x: {list: [{auth: [{a: {clientSecret: hidden}}]}]}}",
		"a list in a list":     "components: {x: {list: [[{token: hidden}]]}}",
		"a variable in a list": "components: {x: {env: [{name: GH_PAT, value: hidden}]}}",
	} {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if err := yaml.Unmarshal([]byte(text), &values); err != nil {
				t.Fatal(err)
			}
			got := documents{}.with(values)
			plain, err := yaml.Marshal(got.values)
			secret, secretErr := yaml.Marshal(got.infraSecrets)
			if err != nil || secretErr != nil {
				t.Fatal(err, secretErr)
			}
			if strings.Contains(string(plain), "hidden") || !strings.Contains(string(secret), "hidden") {
				t.Errorf("the ConfigMap has\n%s\nthe Secret has\n%s", plain, secret)
			}
			if changes := differences("", map[string]any{}, values, nil); len(changes) == 0 ||
				strings.Contains(changes[0].To+changes[0].From, "hidden") {
				t.Errorf("a difference shows it: %+v", changes)
			}
		})
	}
	plain, secret := separate(map[string]any{"list": []any{map[string]any{"name": "x", "value": "y"}, "z"},
		"topologyKey": "zone"})
	if len(secret) > 0 || len(plain) != 2 {
		t.Errorf("no secret, but %v", secret)
	}
}
