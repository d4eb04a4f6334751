{{/* What cluster.kubernetes and the provider's controlPlaneFiles give to the machines, as JSON: {KIND: {lists: {PATH: [...]}, fields: {PATH: value}}} with
     the kinds of telco-cloud-init.machineKinds and paths below their configuration. Only what is set is in it. Items of lists come after those of the
     definition. */}}
{{- define "telco-cloud-init.kubernetesSettings" -}}
{{- include (printf "telco-cloud-init.%sKubernetes" .Values.cluster.bootstrap_provider) . -}}
{{- end -}}

{{- define "telco-cloud-init.kubeadmKubernetes" -}}
{{- $kubernetes := include "telco-cloud-init.kubernetes" . | fromJson -}}
{{- $api := include "telco-cloud-init.apiServer" . | fromJson -}}
{{- $lists := dict -}}
{{- $of := "clusterConfiguration" -}}
{{- $_ := set $lists (printf "%s/apiServer/extraArgs" $of) (include "telco-cloud-init.arguments" (dict "root" . "arguments" $api.arguments) | fromJsonArray) -}}
{{- range $field, $component := dict "controllerManager" "controller_manager" "scheduler" "scheduler" -}}
{{- $arguments := (get $kubernetes $component | default dict).extra_args -}}
{{- $_ := set $lists (printf "%s/%s/extraArgs" $of $field) (include "telco-cloud-init.arguments" (dict "root" $ "arguments" $arguments) | fromJsonArray) -}}
{{- end -}}
{{- $_ := set $lists (printf "%s/apiServer/certSANs" $of) $kubernetes.cert_sans -}}
{{- $volumes := list -}}
{{- range $i, $folder := $api.folders -}}
{{- $volumes = append $volumes (dict "name" (printf "cluster-init-%d" $i) "hostPath" $folder.path "mountPath" $folder.path "readOnly" $folder.readOnly "pathType" "DirectoryOrCreate") -}}
{{- end -}}
{{- $_ := set $lists (printf "%s/apiServer/extraVolumes" $of) $volumes -}}
{{- $files := include "telco-cloud-init.apiServerFiles" (dict "root" . "files" $api.files) | fromJsonArray -}}
{{- $_ := set $lists "files" (concat $files (include "telco-cloud-init.provider" (dict "root" . "template" "controlPlaneFiles" "context" .) | fromJsonArray)) -}}
{{- $kubelet := include "telco-cloud-init.arguments" (dict "root" . "arguments" ($kubernetes.kubelet | default dict).extra_args) | fromJsonArray -}}
{{- $workers := dict "joinConfiguration/nodeRegistration/kubeletExtraArgs" $kubelet -}}
{{- range list "init" "join" -}}{{- $_ := set $lists (printf "%sConfiguration/nodeRegistration/kubeletExtraArgs" .) $kubelet -}}{{- end -}}
{{- include "telco-cloud-init.settingsOfKinds" (dict
  "KubeadmControlPlane" (dict "lists" $lists) "KubeadmConfigTemplate" (dict "lists" $workers)) -}}
{{- end -}}

{{- define "telco-cloud-init.rke2Kubernetes" -}}
{{- $kubernetes := include "telco-cloud-init.kubernetes" . | fromJson -}}
{{- $api := include "telco-cloud-init.apiServer" . | fromJson -}}
{{- $files := include "telco-cloud-init.apiServerFiles" (dict "root" . "files" $api.files) | fromJsonArray -}}
{{- $lists := dict "files" $files "serverConfig/tlsSan" $kubernetes.cert_sans -}}
{{- $_ := set $lists "serverConfig/kubeAPIServer/extraArgs" (include "telco-cloud-init.arguments" (dict "root" . "arguments" $api.arguments) | fromJsonArray) -}}
{{- range $field, $component := dict "kubeControllerManager" "controller_manager" "kubeScheduler" "scheduler" -}}
{{- $arguments := (get $kubernetes $component | default dict).extra_args -}}
{{- $_ := set $lists (printf "serverConfig/%s/extraArgs" $field) (include "telco-cloud-init.arguments" (dict "root" $ "arguments" $arguments) | fromJsonArray) -}}
{{- end -}}
{{- $kubelet := dict "agentConfig/kubelet/extraArgs" (include "telco-cloud-init.arguments" (dict "root" . "arguments" ($kubernetes.kubelet | default dict).extra_args) | fromJsonArray) -}}
{{- $mounts := dict -}}
{{- range $api.folders -}}{{- $_ := set $mounts .path (printf "%s%s" .path (ternary ":ro" "" .readOnly)) -}}{{- end -}}
{{- $fields := $api.fields | default dict -}}
{{- with $mounts -}}{{- $_ := set $fields "serverConfig/kubeAPIServer/extraMounts" . -}}{{- end -}}
{{- include "telco-cloud-init.settingsOfKinds" (dict
  "RKE2ControlPlane" (dict "lists" (merge $lists $kubelet) "fields" $fields) "RKE2ConfigTemplate" (dict "lists" $kubelet)) -}}
{{- end -}}

{{/* The same settings as JSON, without what is empty. */}}
{{- define "telco-cloud-init.settingsOfKinds" -}}
{{- $kinds := dict -}}
{{- range $kind, $settings := . -}}
{{- $lists := dict -}}
{{- range $path, $items := $settings.lists -}}{{- with $items -}}{{- $_ := set $lists $path . -}}{{- end -}}{{- end -}}
{{- if or $lists $settings.fields -}}{{- $_ := set $kinds $kind (dict "lists" $lists "fields" ($settings.fields | default dict)) -}}{{- end -}}
{{- end -}}
{{- toJson $kinds -}}
{{- end -}}

{{/* .arguments, {NAME: value}, as a JSON list in the form of the bootstrap provider. */}}
{{- define "telco-cloud-init.arguments" -}}
{{- $rke2 := eq .root.Values.cluster.bootstrap_provider "rke2" -}}
{{- $list := list -}}
{{- range $name, $value := .arguments -}}
{{- $text := include "telco-cloud-init.settingText" $value -}}
{{- if $rke2 -}}{{- $list = append $list (printf "%s=%s" $name $text) -}}{{- else -}}{{- $list = append $list (dict "name" $name "value" $text) -}}{{- end -}}
{{- end -}}
{{- toJson $list -}}
{{- end -}}

{{/* "true" when the definition has list .path in the configuration of .kind: definitions.json says so. A patch cannot check it. */}}
{{- define "telco-cloud-init.hasList" -}}
{{- $lists := (include "telco-cloud-init.definition" .root | fromJson).lists | default dict -}}
{{- if has .path (get $lists .kind | default list) -}}true{{- end -}}
{{- end -}}

{{/* The patch, as JSON, that gives .kind what its definition does not have; {} for nothing. .settings are those of the kind. */}}
{{- define "telco-cloud-init.kubernetesFields" -}}
{{- $prefix := trimPrefix "/" (get (include "telco-cloud-init.machineKinds" .root | fromJson) .kind) -}}
{{- $new := deepCopy (.settings.fields | default dict) -}}
{{- range $path, $items := .settings.lists -}}
{{- if not (include "telco-cloud-init.hasList" (dict "root" $.root "kind" $.kind "path" $path)) -}}{{- $_ := set $new $path $items -}}{{- end -}}
{{- end -}}
{{- $object := dict -}}
{{- range $path, $value := $new -}}
{{- $nested := $value -}}
{{- range reverse (splitList "/" (printf "%s/%s" $prefix $path)) -}}{{- $nested = dict . $nested -}}{{- end -}}
{{- $object = merge $object $nested -}}
{{- end -}}
{{- if $object -}}
{{- include "telco-cloud-init.patch" (dict "target" (dict "kind" .kind)
  "operations" (merge (dict "apiVersion" "cluster.x-k8s.io/any" "kind" .kind "metadata" (dict "name" "any")) $object)) -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* The operations, as a JSON list, that add to the lists of the definition. */}}
{{- define "telco-cloud-init.kubernetesLists" -}}
{{- $operations := list -}}
{{- range $path, $items := .settings.lists -}}
{{- if include "telco-cloud-init.hasList" (dict "root" $.root "kind" $.kind "path" $path) -}}
{{- range $items -}}{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s/-" $.prefix $path) "value" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $operations -}}
{{- end -}}
