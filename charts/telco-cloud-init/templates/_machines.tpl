{{/* The kinds that say what machines need, with the path of their configuration, as JSON. */}}
{{- define "telco-cloud-init.machineKinds" -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- dict "RKE2ControlPlane" "/spec" "RKE2ConfigTemplate" "/spec/template/spec" | toJson -}}
{{- else -}}
{{- dict "KubeadmControlPlane" "/spec/kubeadmConfigSpec" "KubeadmConfigTemplate" "/spec/template/spec" | toJson -}}
{{- end -}}
{{- end -}}

{{/* The field of commands that machines run first. */}}
{{- define "telco-cloud-init.commandsField" -}}
{{- get (dict "kubeadm" "preKubeadmCommands" "rke2" "preRKE2Commands") .Values.cluster.bootstrap_provider -}}
{{- end -}}

{{/* "true" when the definition is known to have no list of commands for .kind: definitions.json says so. A patch cannot check it. */}}
{{- define "telco-cloud-init.lacksCommands" -}}
{{- $definition := include "telco-cloud-init.definition" .root | fromJson -}}
{{- if and $definition (not .root.Values.components.cluster.repo) (not (has .kind ($definition.commands | default list))) -}}
true
{{- end -}}
{{- end -}}

{{/* {patches: [...]} as JSON: fields of all machines, which a user's patch may change, and lists that the definition has not. The API takes no empty
     lists of kubeadm, so definitions have none. .settings are telco-cloud-init.kubernetesSettings. */}}
{{- define "telco-cloud-init.machineFields" -}}
{{- $machine := include "telco-cloud-init.machineFiles" .root | fromJson -}}
{{- $patches := list -}}
{{- range $kind, $prefix := include "telco-cloud-init.machineKinds" .root | fromJson -}}
{{- $operations := list -}}
{{- range $field, $value := $machine.fields -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s" $prefix $field) "value" $value) -}}
{{- end -}}
{{- if and (or $machine.commands (include "telco-cloud-init.machineadm" $.root)) (include "telco-cloud-init.lacksCommands" (dict "root" $.root "kind" $kind)) -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s" $prefix (include "telco-cloud-init.commandsField" $.root)) "value" list) -}}
{{- end -}}
{{- if $operations -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" $kind) "operations" $operations) | fromJson) -}}
{{- end -}}
{{- with include "telco-cloud-init.kubernetesFields" (dict "root" $.root "kind" $kind "settings" (get $.settings $kind | default dict)) | fromJson -}}
{{- $patches = append $patches . -}}
{{- end -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{/* {patches: [...]} as JSON: files of all machines after those of the definition and of the user, and commands before theirs. */}}
{{- define "telco-cloud-init.machineLists" -}}
{{- $machine := include "telco-cloud-init.machineFiles" .root | fromJson -}}
{{- $patches := list -}}
{{- range $kind, $prefix := include "telco-cloud-init.machineKinds" .root | fromJson -}}
{{- $operations := list -}}
{{- $first := include "telco-cloud-init.machineadmMachine" (dict "root" $.root "kind" $kind) | fromJson -}}
{{- range concat ($first.files | default list) ($machine.files | default list) -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/files/-" $prefix) "value" .) -}}
{{- end -}}
{{- $operations = concat $operations (include "telco-cloud-init.kubernetesLists" (dict "root" $.root "kind" $kind "prefix" $prefix "settings" (get $.settings $kind | default dict)) | fromJsonArray) -}}
{{- $commands := $machine.commands | default list -}}
{{- if $first.commands -}}
{{- /* What a provider wants of RKE2 stays before all else: see _providers.tpl. */ -}}
{{- $provider := list -}}
{{- if eq $.root.Values.cluster.bootstrap_provider "rke2" -}}
{{- $provider = (include "telco-cloud-init.provider" (dict "root" $.root "template" "rke2Commands" "context" $.root) | fromJson).commands | default list -}}
{{- end -}}
{{- $rest := list -}}
{{- range $commands -}}{{- if not (has . $provider) -}}{{- $rest = append $rest . -}}{{- end -}}{{- end -}}
{{- $commands = concat $provider $first.commands $rest -}}
{{- end -}}
{{- range reverse $commands -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s/0" $prefix (include "telco-cloud-init.commandsField" $.root)) "value" .) -}}
{{- end -}}
{{- if $operations -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" $kind) "operations" $operations) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}
