{{/* Kubernetes on a stock image, which machineadm installs when the machine boots for the first time: cluster.kubernetes_source is boot. */}}

{{/* The versions whose files are known, {VERSION: [...]} as JSON: those of the values, and of kubernetes-files.json. */}}
{{- define "telco-cloud-init.knownKubernetes" -}}
{{- $known := .Files.Get "kubernetes-files.json" | default "{}" | fromJson -}}
{{- merge (deepCopy (.Values.cluster.kubernetes_files | default dict)) $known | toJson -}}
{{- end -}}

{{/* The system extension that has the cluster's version, {version, url, sha512} as JSON: Ignition fetches it. {} without one. */}}
{{- define "telco-cloud-init.kubernetesSysext" -}}
{{- $sysext := dict -}}
{{- $version := splitList "+" .Values.cluster.kubernetes_version | first -}}
{{- if and (eq .Values.cluster.kubernetes_source "boot") (eq .Values.cluster.bootstrap_format "ignition") -}}
{{- with get (.Values.cluster.kubernetes_sysext | default dict) $version -}}{{- $sysext = merge (dict "version" $version) . -}}{{- end -}}
{{- end -}}
{{- toJson $sysext -}}
{{- end -}}

{{/* The files of a MachineConfig for the cluster's version, as a JSON list; none when the image or a system extension has Kubernetes. */}}
{{- define "telco-cloud-init.kubernetesFiles" -}}
{{- $files := list -}}
{{- if and (eq .Values.cluster.kubernetes_source "boot") (not (include "telco-cloud-init.kubernetesSysext" . | fromJson)) -}}
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
{{- $sysexts := .Values.cluster.kubernetes_sysext | default dict -}}
{{- $refused := include "telco-cloud-init.provider" (dict "root" . "template" "sysextRefused" "context" .) -}}
{{- $instead := "Give" -}}
{{- if and (not $refused) (ne .Values.cluster.bootstrap_format "ignition") -}}
{{- $refused = printf "cluster.bootstrap_format is %s" .Values.cluster.bootstrap_format -}}
{{- $instead = "Set it to ignition, or give" -}}
{{- end -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- "values/invalid: cluster.kubernetes_source is boot, but RKE2 installs itself\nhint: Set it to image.\n" -}}
{{- else if not (include "telco-cloud-init.machineadm" .) -}}
{{- "values/invalid: cluster.kubernetes_source is boot, but cluster.machineadm.enabled is false: nothing would install Kubernetes\nhint: Enable it.\n" -}}
{{- else if hasKey $sysexts $version -}}
{{- with $refused -}}
{{- printf "values/invalid: cluster.kubernetes_sysext is given, but %s\nhint: %s the files of %s in cluster.kubernetes_files instead.\n" . $instead $version -}}
{{- end -}}
{{- else if not (get $known $version) -}}
{{- $versions := keys $known -}}
{{- if not $refused -}}{{- $versions = concat $versions (keys $sysexts) | uniq -}}{{- end -}}
{{- $versions = $versions | sortAlpha | join ", " | default "none" -}}
{{- printf "values/invalid: cluster.kubernetes_version is %s, but the files of that version are not known (known: %s)\nhint: Give them in cluster.kubernetes_files, or use an image that has Kubernetes.\n" $version $versions -}}
{{- end -}}
{{- end -}}
{{- end -}}
