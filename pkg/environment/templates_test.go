package environment_test

import (
	"fmt"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// Helm bounds no template, and a value of a stranger may be one: what repeats anything is refused before it runs.
func TestTemplatesInValuesCostBoundedWork(t *testing.T) {
	for template, want := range map[string]string{
		`{{ range until 1000000000 }}x{{ end }}`:                                      "has no range",
		`{{ range $i := .Values.components }}{{ $i }}{{ end }}`:                       "has no range",
		`{{ repeat 1000000000 "x" }}`:                                                 "the function repeat",
		`{{ "x" | repeat 1000000000 }}`:                                               "the function repeat",
		`{{ eq (repeat 1000000000 "x") "x" }}`:                                        "the function repeat",
		`{{ (repeat 1000000000 "x").y }}`:                                             "the function repeat",
		`{{ if repeat 1000000000 "x" }}y{{ end }}`:                                    "the function repeat",
		`{{ if eq 1 2 }}y{{ else if repeat 1000000000 "x" }}z{{ end }}`:               "the function repeat",
		`{{ randAlpha 1000000000 }}`:                                                  "the function randAlpha",
		`{{ tpl "{{ 1 }}" . }}`:                                                       "the function tpl",
		`{{ getHostByName "evil.example" }}`:                                          "the function getHostByName",
		`{{ printf "%1000000000d" 1 }}`:                                               "plain format",
		`{{ printf "%[1]s%[1]s" "x" }}`:                                               "plain format",
		`{{ printf .Values.cni }}`:                                                    "plain format",
		`{{ $x := "a" }}{{ $x = print $x $x }}{{ $x }}`:                               "has no variables",
		`{{ with print . . }}{{ with print . . }}{{ . }}{{ end }}{{ end }}`:           "has no with",
		`{{ define "z" }}{{ template "z" . }}{{ end }}{{ template "z" . }}`:           "defines no other one",
		`{{ template "telco-cloud-init.name" . }}`:                                    "runs no other one",
		`{{ include "telco-cloud-init.namespace" (dict "root" . "name" "x") }}`:       "includes only",
		`{{ include .Values.cni . }}`:                                                 "includes only",
		`{{ .Values | toJson | toJson | toJson | toJson }}`:                           "at most 3",
		strings.Repeat(`{{ .Values.cni }}`, 2001):                                     "more than 2000 actions",
		`{{ .Values.cni | toJson }}-{{ if eq .Values.cni "x" }}a{{ else }}b{{ end }}`: "",
		`{{ printf "%s-%d" .Values.cni 3 | quote }}{{ $.Values.cni | default "x" }}`:  "",
		`{{ include "telco-cloud-init.nodeImage" . | toJson }}`:                       "",
	} {
		fields := []string{"substitute: {A: %q}", "path: %q", "namespace: %q", "dependsOn: [%q]", "spec: {a: %q}"}
		for _, field := range fields {
			if strings.Contains(template, `"`) && strings.HasPrefix(field, "spec") {
				continue // YAML escapes the quotes: it does not parse
			}
			own := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd",
				"values.yaml": "components: {mine: {enabled: true, " + fmt.Sprintf(field, template) + "}}\n"})
			_, err := environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content()})
			refused := err != nil && strings.Contains(err.Error(), "template")
			wanted := fault.CodeOf(err) == fault.ValuesInvalid && strings.Contains(err.Error(), want)
			if want == "" && refused || want != "" && !wanted {
				t.Errorf("%.80s in %s: %.300v", template, field, err)
			}
		}
	}
}

// The chart compares components with each other.
func TestComponentsAreBounded(t *testing.T) {
	var values strings.Builder
	for i := range 501 {
		fmt.Fprintf(&values, "  k%d: {enabled: true, path: ./x, dependsOn: [k%d]}\n", i+1, i)
	}
	own := folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd",
		"values.yaml": "components:\n" + values.String()})
	_, err := environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content()})
	if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), "more than 500 entries") {
		t.Errorf("got %.300v", err)
	}
	own = folder(t, map[string]string{"environment.yaml": "from: kubeadm-capd",
		"values.yaml": "components: {x: {path: ./x, dependsOn: [" + strings.Repeat("capi,", 2001) + "]}}\n"})
	_, err = environment.Load(t.Context(), environment.Options{Name: own, Content: clusterinit.Content()})
	if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), "more than 2000 entries") {
		t.Errorf("got %.300v", err)
	}
}
