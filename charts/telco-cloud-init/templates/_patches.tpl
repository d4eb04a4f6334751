{{/* A patch of what .target selects, as JSON. .operations, a list of operations or a manifest, is what it says: Flux fills variables into
     patches too, for which a dollar sign is two. As YAML it would lose the line break that a text at its end has. */}}
{{- define "telco-cloud-init.patch" -}}
{{- dict "target" .target "patch" (toPrettyJson .operations | replace "$" "$$") | toJson -}}
{{- end -}}

{{/* {patches: [...]} for component .name: pull secrets, proxies, and what machines need. */}}
{{- define "telco-cloud-init.patches" -}}
{{- $component := index .root.Values.components .name -}}
{{- $patches := list -}}
{{- if and $component.namespaces (include "telco-cloud-init.dockerConfig" .root) -}}
{{- $patches = concat $patches (include "telco-cloud-init.pullSecretPatches" .root | fromJson).patches -}}
{{- end -}}
{{- with include "telco-cloud-init.proxyVariables" .root -}}
{{- $env := list -}}
{{- $variables := set (fromJson .) "NO_PROXY" (include "telco-cloud-init.controllerNoProxy" $.root) -}}
{{- range $name, $value := $variables -}}{{- $env = append $env (dict "name" $name "value" $value) -}}{{- end -}}
{{- range $component.controllers -}}
{{- $container := dict "name" .container "env" $env -}}
{{- $kind := .kind | default "Deployment" -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" (dict "kind" $kind "name" .deployment)
  "operations" (dict "apiVersion" "apps/v1" "kind" $kind "metadata" (dict "name" "any")
    "spec" (dict "template" (dict "spec" (dict "containers" (list $container)))))) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- if eq .name "cluster" -}}
{{- $patches = concat $patches ((include "telco-cloud-init.provider" (dict "root" .root "template" "patches" "context" .root) | fromJson).patches | default list) -}}
{{- $patches = concat $patches ((include "telco-cloud-init.machinePatches" .root | fromJson).patches | default list) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{/* {patches: [...]} as JSON, that put what all machines need on those of the control plane and on workers. */}}
{{- define "telco-cloud-init.machinePatches" -}}
{{- $machine := include "telco-cloud-init.machineFiles" . | fromJson -}}
{{- $kinds := dict "KubeadmControlPlane" "/spec/kubeadmConfigSpec" "KubeadmConfigTemplate" "/spec/template/spec" -}}
{{- $commandKey := "preKubeadmCommands" -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- $kinds = dict "RKE2ControlPlane" "/spec" "RKE2ConfigTemplate" "/spec/template/spec" -}}
{{- $commandKey = "preRKE2Commands" -}}
{{- end -}}
{{- $patches := list -}}
{{- range $kind, $prefix := $kinds -}}
{{- $operations := list -}}
{{- range $machine.files -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/files/-" $prefix) "value" .) -}}
{{- end -}}
{{- range $field, $value := $machine.fields -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s" $prefix $field) "value" $value) -}}
{{- end -}}
{{- if eq $.Values.cluster.bootstrap_provider "rke2" -}}
{{- /* After the one that its machines have already. */ -}}
{{- range $machine.commands -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s/-" $prefix $commandKey) "value" .) -}}
{{- end -}}
{{- else if and $machine.commands (include "telco-cloud-init.provider" (dict "root" $ "template" "ownCommands" "context" $)) -}}
{{- /* Its machines have commands already, which come after these. */ -}}
{{- range reverse $machine.commands -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s/0" $prefix $commandKey) "value" .) -}}
{{- end -}}
{{- else if $machine.commands -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s" $prefix $commandKey) "value" $machine.commands) -}}
{{- end -}}
{{- if $operations -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" $kind) "operations" $operations) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}
