{{/* {patches: [...]} for component .name, before the user's: its managers, which run once, end before the next one starts. An old one running
     at the same time would answer conversions and webhooks that it does not know. */}}
{{- define "telco-cloud-init.strategyPatches" -}}
{{- $patches := list -}}
{{- range (index .root.Values.components .name).controllers -}}
{{- if and (eq .container "manager") (eq (.kind | default "Deployment") "Deployment") -}}
{{- $target := dict "kind" "Deployment" "name" .deployment -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" $target
  "operations" (list (dict "op" "add" "path" "/spec/strategy" "value" (dict "type" "Recreate")))) | fromJson) -}}
{{- /* The API server has filled in more for a Deployment that had no strategy, which no apply removes: Flux recreates it. */ -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" $target
  "operations" (dict "apiVersion" "apps/v1" "kind" "Deployment" "metadata" (dict "name" "any" "annotations" (dict "kustomize.toolkit.fluxcd.io/force" "enabled")))) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}
