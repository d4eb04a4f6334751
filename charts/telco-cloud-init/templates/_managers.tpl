{{/* {patches: [...]} for component .name, before the user's. Its managers run once, and end before the next one starts: an old one running
     at the same time would answer conversions and webhooks that it does not know. They soon leave a node that fails: Kubernetes would wait for
     five minutes, in which nobody replaces the machine. */}}
{{- define "telco-cloud-init.managerPatches" -}}
{{- $tolerations := list -}}
{{- range list "control-plane" "master" -}}
{{- /* What all managers tolerate in the manifests of their providers. */ -}}
{{- $tolerations = append $tolerations (dict "key" (printf "node-role.kubernetes.io/%s" .) "effect" "NoSchedule") -}}
{{- end -}}
{{- range list "not-ready" "unreachable" -}}
{{- $tolerations = append $tolerations (dict "key" (printf "node.kubernetes.io/%s" .) "operator" "Exists" "effect" "NoExecute" "tolerationSeconds" 30) -}}
{{- end -}}
{{- $patches := list -}}
{{- range (index .root.Values.components .name).controllers -}}
{{- if and (eq .container "manager") (eq (.kind | default "Deployment") "Deployment") -}}
{{- $target := dict "kind" "Deployment" "name" .deployment -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" $target
  "operations" (list (dict "op" "add" "path" "/spec/strategy" "value" (dict "type" "Recreate"))
    (dict "op" "add" "path" "/spec/template/spec/tolerations" "value" $tolerations))) | fromJson) -}}
{{- /* The API server has filled in more for a Deployment that had no strategy, which no apply removes: Flux recreates it. */ -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" $target
  "operations" (dict "apiVersion" "apps/v1" "kind" "Deployment" "metadata" (dict "name" "any" "annotations" (dict "kustomize.toolkit.fluxcd.io/force" "enabled")))) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}
