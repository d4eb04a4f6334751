{{/* Kubernetes on a stock image, which machineadm installs when the machine boots for the first time: cluster.kubernetes_source is boot. */}}

{{/* The versions whose files are known, {VERSION: [...]} as JSON: those of the values, and of kubernetes-files.json. */}}
{{- define "telco-cloud-init.knownKubernetes" -}}
{{- $known := .Files.Get "kubernetes-files.json" | default "{}" | fromJson -}}
{{- merge (deepCopy (.Values.cluster.kubernetes_files | default dict)) $known | toJson -}}
{{- end -}}

{{/* The files of a MachineConfig for the cluster's version, as a JSON list; none when the image has Kubernetes. */}}
{{- define "telco-cloud-init.kubernetesFiles" -}}
{{- $files := list -}}
{{- if eq .Values.cluster.kubernetes_source "boot" -}}
{{- $version := splitList "+" .Values.cluster.kubernetes_version | first -}}
{{- range get (include "telco-cloud-init.knownKubernetes" . | fromJson) $version | default list -}}
{{- /* Flatcar's /usr is read-only. */ -}}
{{- $path := .path -}}
{{- if eq $.Values.cluster.bootstrap_format "ignition" -}}{{- $path = regexReplaceAll "^/usr/local/bin(/|$)" $path "/opt/bin${1}" -}}{{- end -}}
{{- $file := dict "path" $path "sources" .sources -}}
{{- if .archive -}}{{- $_ := set $file "archive" true -}}{{- end -}}
{{- $files = append $files $file -}}
{{- end -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* A source of Kubernetes that machines cannot have. */}}
{{- define "telco-cloud-init.checkBoot" -}}
{{- if and (include "telco-cloud-init.enabled" (dict "root" . "name" "cluster")) (eq .Values.cluster.kubernetes_source "boot") -}}
{{- $version := splitList "+" .Values.cluster.kubernetes_version | first -}}
{{- $known := include "telco-cloud-init.knownKubernetes" . | fromJson -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- "values/invalid: cluster.kubernetes_source is boot, but RKE2 installs itself\nhint: Set it to image.\n" -}}
{{- else if not (include "telco-cloud-init.machineadm" .) -}}
{{- "values/invalid: cluster.kubernetes_source is boot, but cluster.machineadm.enabled is false: nothing would install Kubernetes\nhint: Enable it.\n" -}}
{{- else if not (get $known $version) -}}
{{- $versions := ternary (keys $known | sortAlpha | join ", ") "none" (gt (len $known) 0) -}}
{{- printf "values/invalid: cluster.kubernetes_version is %s, but the files of that version are not known (known: %s)\nhint: Give them in cluster.kubernetes_files, or use an image that has Kubernetes.\n" $version $versions -}}
{{- end -}}
{{- end -}}
{{- end -}}
