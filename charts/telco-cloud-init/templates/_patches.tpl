{{/* A patch of what .target selects, as JSON. .operations, a list of operations or a manifest, is what it says: Flux fills variables into
     patches too, for which a dollar sign is two. As YAML it would lose the line break that a text at its end has. */}}
{{- define "telco-cloud-init.patch" -}}
{{- dict "target" .target "patch" (toPrettyJson .operations | replace "$" "$$") | toJson -}}
{{- end -}}

{{/* {patches: [...]} for component .name, those that come before the user's: pull secrets, proxies, and what the user may change of machines. */}}
{{- define "telco-cloud-init.patches" -}}
{{- $component := index .root.Values.components .name -}}
{{- $patches := list -}}
{{- if $component.chart -}}
{{- $patches = concat $patches (include "telco-cloud-init.chartPatches" . | fromJson).patches -}}
{{- else if and (include "telco-cloud-init.namespaces" . | fromJsonArray) (include "telco-cloud-init.dockerConfig" .root) -}}
{{- $patches = concat $patches (include "telco-cloud-init.pullSecretPatches" .root | fromJson).patches -}}
{{- end -}}
{{- $variables := include "telco-cloud-init.controllerProxies" .root | fromJson -}}
{{- if $variables -}}
{{- $env := list -}}
{{- range $name, $_ := $variables -}}
{{- $env = append $env (dict "name" $name "valueFrom" (dict "secretKeyRef" (dict "name" "telco-cloud-init-proxies" "key" $name))) -}}
{{- end -}}
{{- $version := include "telco-cloud-init.proxiesVersion" (dict "root" .root "variables" $variables) -}}
{{- range (include "telco-cloud-init.proxied" . | fromJson).controllers -}}
{{- $container := dict "name" .container "env" $env -}}
{{- $kind := .kind | default "Deployment" -}}
{{- /* Pods read the Secret when they start. */ -}}
{{- $template := dict "metadata" (dict "annotations" (dict "cluster-init.io/proxies" $version))
  "spec" (dict "containers" (list $container)) -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" (dict "kind" $kind "name" .deployment)
  "operations" (dict "apiVersion" "apps/v1" "kind" $kind "metadata" (dict "name" "any")
    "spec" (dict "template" $template))) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- if eq .name "health-checks" -}}
{{- $patches = concat $patches ((include "telco-cloud-init.healthCheckPatches" . | fromJson).patches | default list) -}}
{{- end -}}
{{- if eq .name "backup" -}}
{{- $patches = concat $patches (include "telco-cloud-init.backupPatches" .root | fromJson).patches -}}
{{- end -}}
{{- if eq .name "cluster" -}}
{{- $patches = concat $patches ((include "telco-cloud-init.provider" (dict "root" .root "template" "patches" "context" .root) | fromJson).patches | default list) -}}
{{- $patches = concat $patches ((include "telco-cloud-init.machineFields" . | fromJson).patches | default list) -}}
{{- $patches = concat $patches ((include "telco-cloud-init.drainPatches" .root | fromJson).patches | default list) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}
