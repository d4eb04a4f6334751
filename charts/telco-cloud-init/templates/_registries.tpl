{{/* Logins for image registries as JSON, {host: {username, password}}: those of registry_secret, and the default login
     for the registries that it names. */}}
{{- define "telco-cloud-init.registryLogins" -}}
{{- $logins := deepCopy (.Values.registry_secret | default dict) -}}
{{- $auth := .Values.git_auth_default -}}
{{- if $auth.password -}}
{{- range $auth.registry_hosts -}}
{{- if not (hasKey $logins .) -}}
{{- $_ := set $logins . (dict "username" ($auth.username | default "git") "password" $auth.password) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $logins -}}
{{- end -}}

{{/* The same as Docker's configuration; empty when there is no login. */}}
{{- define "telco-cloud-init.dockerConfig" -}}
{{- $auths := dict -}}
{{- range $host, $login := include "telco-cloud-init.registryLogins" . | fromJson -}}
{{- $_ := set $auths $host (dict "username" $login.username "password" $login.password "auth" (printf "%s:%s" $login.username $login.password | b64enc)) -}}
{{- end -}}
{{- if $auths -}}{{- dict "auths" $auths | toJson -}}{{- end -}}
{{- end -}}

{{/* Patches, as {patches: [...]}, that add the pull secret to what accounts and pods of a component have already. */}}
{{- define "telco-cloud-init.pullSecretPatches" -}}
{{- $secrets := list (dict "name" "telco-cloud-init-registry") -}}
{{- $metadata := dict "name" "any" -}}
{{- $patches := list (include "telco-cloud-init.patch" (dict "target" (dict "kind" "ServiceAccount")
  "operations" (dict "apiVersion" "v1" "kind" "ServiceAccount" "metadata" $metadata "imagePullSecrets" $secrets)) | fromJson) -}}
{{- $template := dict "template" (dict "spec" (dict "imagePullSecrets" $secrets)) -}}
{{- range $kind, $group := dict "Deployment" "apps" "DaemonSet" "apps" "StatefulSet" "apps" "Job" "batch" -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" $kind)
  "operations" (dict "apiVersion" (printf "%s/v1" $group) "kind" $kind "metadata" $metadata "spec" $template)) | fromJson) -}}
{{- end -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" "CronJob")
  "operations" (dict "apiVersion" "batch/v1" "kind" "CronJob" "metadata" $metadata "spec" (dict "jobTemplate" (dict "spec" $template)))) | fromJson) -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{/* What every machine needs to trust registries and to log in to them, whoever makes a node of it: {files, commands} as
     JSON. */}}
{{- define "telco-cloud-init.machineTrust" -}}
{{- $files := list -}}
{{- $commands := list -}}
{{- if include "telco-cloud-init.dockerConfig" . -}}
{{- /* kubelet hands these to containerd with each pull, for the pods of all namespaces. */ -}}
{{- $files = append $files (dict "path" "/var/lib/kubelet/config.json" "owner" "root:root" "permissions" "0600"
  "contentFrom" (dict "secret" (dict "name" (include "telco-cloud-init.called" (dict "root" . "name" "telco-cloud-init-machine-registries")) "key" "config.json"))) -}}
{{- end -}}
{{- with .Values.cluster.trusted_cas -}}
{{- if not (include "telco-cloud-init.machineadm" $) -}}
{{- $files = append $files (dict "path" "/etc/cluster-init.io/trusted-cas.pem" "owner" "root:root" "permissions" "0644" "content" .) -}}
{{- /* Debian and Ubuntu; Red Hat and its kin; Flatcar. */ -}}
{{- $commands = append $commands "if test -d /etc/pki/ca-trust/source/anchors; then cp /etc/cluster-init.io/trusted-cas.pem /etc/pki/ca-trust/source/anchors/cluster-init.pem && update-ca-trust; elif test -d /usr/local/share/ca-certificates; then cp /etc/cluster-init.io/trusted-cas.pem /usr/local/share/ca-certificates/cluster-init.crt && update-ca-certificates; else cp /etc/cluster-init.io/trusted-cas.pem /etc/ssl/certs/cluster-init.pem && update-ca-certificates; fi" -}}
{{- if eq $.Values.cluster.bootstrap_provider "kubeadm" -}}{{- $commands = append $commands "systemctl restart containerd" -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "files" $files "commands" $commands | toJson -}}
{{- end -}}
