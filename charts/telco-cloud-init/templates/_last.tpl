{{/* {patches: [...]} for component .name, those that come after the user's: nothing that a user patches takes them away. */}}
{{- define "telco-cloud-init.lastPatches" -}}
{{- $patches := list -}}
{{- if eq .name "cluster" -}}
{{- $patches = concat ((include "telco-cloud-init.machineLists" . | fromJson).patches | default list) (include "telco-cloud-init.poolPatches" . | fromJson).patches -}}
{{- end -}}
{{- /* Deleting a CRD deletes all its objects: each Cluster, and with it each server. Deleting a namespace deletes all its content. Flux applies
     them, and never deletes them: neither when a commit lacks them nor to recreate them where a field cannot be changed. */ -}}
{{- range list (list "apiextensions.k8s.io/v1" "CustomResourceDefinition") (list "v1" "Namespace") -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" (dict "kind" (last .))
  "operations" (dict "apiVersion" (first .) "kind" (last .)
    "metadata" (dict "name" "any" "annotations" (dict "kustomize.toolkit.fluxcd.io/prune" "disabled" "kustomize.toolkit.fluxcd.io/force" "disabled")))) | fromJson) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}
