{{/* "true" when component .name is enabled in the phase of .root, otherwise empty. */}}
{{- define "telco-cloud-init.enabled" -}}
{{- $component := index .root.Values.components .name | default dict -}}
{{- $enabled := toString $component.enabled -}}
{{- if and (eq .name "cni") (eq .root.Values.cni "none") -}}
{{- else if and (eq .name "backup") (or (ne .root.Values.phase "management") (not (include "telco-cloud-init.enabled" (dict "root" .root "name" "cluster")))) -}}
{{- else if and (eq .name "health-checks") (or (eq .root.Values.phase "bootstrap") (not (include "telco-cloud-init.enabled" (dict "root" .root "name" "cluster")))) -}}
{{- else if and (eq .root.Values.phase "workload") (not (ternary $component.workload (eq $enabled "workload-only") (hasKey $component "workload"))) -}}
{{- else if or (eq $enabled "true") (eq $enabled (printf "%s-only" .root.Values.phase)) -}}
true
{{- end -}}
{{- end -}}

{{/* Name of object .name of the release. A namespace may hold several workload clusters: their objects begin with the cluster's name. */}}
{{- define "telco-cloud-init.called" -}}
{{- if eq .root.Values.phase "workload" -}}
{{- printf "%s-%s" .root.Values.cluster.name (trimPrefix "telco-cloud-init-" .name) -}}
{{- else -}}
{{- .name -}}
{{- end -}}
{{- end -}}

{{/* Names of the components that component .name depends on, one a line; empty ones are left out. */}}
{{- define "telco-cloud-init.dependencies" -}}
{{- $component := index .root.Values.components .name | default dict -}}
{{- range $component.dependsOn -}}
{{- with tpl . $.root | trim -}}
{{ . }}
{{ end -}}
{{- end -}}
{{- end -}}

{{/* Namespace of the Kustomization of component .name. */}}
{{- define "telco-cloud-init.namespace" -}}
{{- $component := index .root.Values.components .name | default dict -}}
{{- tpl ($component.namespace | default "") .root | default .root.Release.Namespace -}}
{{- end -}}

{{/* Namespaces of the Pods of component .name, as JSON. That of backups is the cluster's. */}}
{{- define "telco-cloud-init.namespaces" -}}
{{- $component := index .root.Values.components .name | default dict -}}
{{- ternary (list .root.Values.cluster.namespace) ($component.namespaces | default list) (eq .name "backup") | uniq | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.sourceNamespace" -}}
{{- .Values.source.namespace | default .Release.Namespace -}}
{{- end -}}

{{/* Dependencies that are missing or not enabled, and a cycle. */}}
{{- define "telco-cloud-init.checkGraph" -}}
{{- $graph := dict -}}
{{- range $name, $_ := .Values.components -}}
{{- if include "telco-cloud-init.enabled" (dict "root" $ "name" $name) -}}
{{- $dependencies := list -}}
{{- range include "telco-cloud-init.dependencies" (dict "root" $ "name" $name) | splitList "\n" | compact -}}
{{- if not (hasKey $.Values.components .) -}}
{{- printf "component/unknown: component %q depends on %q, which does not exist (components.%s.dependsOn); components: %s\n" $name . $name (keys $.Values.components | sortAlpha | join ", ") -}}
{{- else if not (include "telco-cloud-init.enabled" (dict "root" $ "name" .)) -}}
{{- printf "component/disabled: component %q depends on %q, which is not enabled in phase %s (components.%s.enabled)\n" $name . $.Values.phase . -}}
{{- else -}}
{{- $dependencies = append $dependencies . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $graph $name $dependencies -}}
{{- end -}}
{{- end -}}
{{- /* Remove what waits for nothing, once for each component: what is left is a cycle. */ -}}
{{- range until (len $graph) -}}
{{- range $name, $dependencies := deepCopy $graph -}}
{{- $open := list -}}
{{- range $dependencies -}}{{- if hasKey $graph . -}}{{- $open = append $open . -}}{{- end -}}{{- end -}}
{{- if not $open -}}{{- $_ := unset $graph $name -}}{{- else -}}{{- $_ := set $graph $name $open -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if $graph -}}
{{- $name := keys $graph | sortAlpha | first -}}
{{- $path := list -}}
{{- range until (len $graph) -}}
{{- if not (has $name $path) -}}
{{- $path = append $path $name -}}
{{- $name = index $graph $name | first -}}
{{- end -}}
{{- end -}}
{{- $cycle := list -}}
{{- range $path -}}{{- if or $cycle (eq . $name) -}}{{- $cycle = append $cycle . -}}{{- end -}}{{- end -}}
{{- printf "component/cycle: components wait for each other: %s\n" (append $cycle $name | join " -> ") -}}
{{- end -}}
{{- end -}}

{{/* Lays map .over on map .base, in place: maps are merged, all else is replaced, null removes. */}}
{{- define "telco-cloud-init.merge" -}}
{{- range $key, $value := .over -}}
{{- if and (kindIs "map" $value) (kindIs "map" (index $.base $key)) -}}
{{- include "telco-cloud-init.merge" (dict "base" (index $.base $key) "over" $value) -}}
{{- else if kindIs "invalid" $value -}}
{{- $_ := unset $.base $key -}}
{{- else -}}
{{- $_ := set $.base $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
