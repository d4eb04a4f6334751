{{/* What the API server gets from cluster.kubernetes, as JSON: {arguments: {NAME: value}, files, folders: [{path, readOnly}], fields}. Its pod mounts
     the folders. fields are RKE2's own, see telco-cloud-init.kubernetesSettings. */}}
{{- define "telco-cloud-init.apiServer" -}}
{{- $kubernetes := include "telco-cloud-init.kubernetes" . | fromJson -}}
{{- $rke2 := eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- $folder := printf "/etc/%s/cluster-init" (ternary "rancher/rke2" "kubernetes" $rke2) -}}
{{- $parts := list -}}
{{- range list "audit" "encryption" "oidc" "admission" -}}
{{- $parts = append $parts (include (printf "telco-cloud-init.%s" .) (dict "root" $ "kubernetes" $kubernetes "rke2" $rke2 "folder" $folder) | fromJson) -}}
{{- end -}}
{{- $arguments := deepCopy ((($kubernetes.api_server | default dict).extra_args) | default dict) -}}
{{- $files := list -}}
{{- $folders := list -}}
{{- $fields := dict -}}
{{- range $parts -}}
{{- /* The user's limits of the audit log count; other arguments of these are refused. */ -}}
{{- $arguments = merge $arguments (.arguments | default dict) -}}
{{- $files = concat $files (.files | default list) -}}
{{- $folders = concat $folders (.folders | default list) -}}
{{- $fields = merge $fields (.fields | default dict) -}}
{{- end -}}
{{- range $files -}}
{{- if hasPrefix $folder .path -}}{{- $folders = append $folders (dict "path" $folder "readOnly" true) -}}{{- end -}}
{{- end -}}
{{- dict "arguments" $arguments "files" $files "folders" (uniq $folders) "fields" $fields | toJson -}}
{{- end -}}

{{/* Those of .files that are in the definition, as a JSON list: machineadm writes the others, except what is in a Secret of its own. */}}
{{- define "telco-cloud-init.apiServerFiles" -}}
{{- $files := list -}}
{{- range .files -}}
{{- if or (hasKey . "contentFrom") (not (include "telco-cloud-init.machineadm" $.root)) -}}{{- $files = append $files . -}}{{- end -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* A file of the API server, which only root reads, as JSON. Its content is in base64: see telco-cloud-init.machineSettings. */}}
{{- define "telco-cloud-init.apiServerFile" -}}
{{- dict "path" .path "owner" "root:root" "permissions" "0600" "encoding" "base64" "content" (b64enc .content) | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.audit" -}}
{{- with .kubernetes.audit_policy -}}
{{- if .rules -}}
{{- $policy := dict "apiVersion" "audit.k8s.io/v1" "kind" "Policy" "rules" .rules -}}
{{- with .omit_stages -}}{{- $_ := set $policy "omitStages" . -}}{{- end -}}
{{- $path := printf "%s/audit-policy.json" $.folder -}}
{{- $files := list (include "telco-cloud-init.apiServerFile" (dict "path" $path "content" (toJson $policy)) | fromJson) -}}
{{- if $.rke2 -}}
{{- /* RKE2 has a place of its own for the log, limits, and mounts. */ -}}
{{- $files = append $files (include "telco-cloud-init.apiServerFile" (dict
  "path" "/etc/rancher/rke2/config.yaml.d/50-audit.yaml" "content" (printf "audit-policy-file: %s\n" $path)) | fromJson) -}}
{{- dict "files" $files | toJson -}}
{{- else -}}
{{- $log := "/var/log/kubernetes/audit" -}}
{{- dict "files" $files "folders" (list (dict "path" $log "readOnly" false)) "arguments" (dict "audit-policy-file" $path
  "audit-log-path" (printf "%s/audit.log" $log) "audit-log-maxage" "30" "audit-log-maxbackup" "10" "audit-log-maxsize" "100") | toJson -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The keys are in a Secret, see machine-secrets.yaml: machines get them with the rest of their configuration. */}}
{{- define "telco-cloud-init.encryption" -}}
{{- if (.kubernetes.encryption_at_rest | default dict).keys -}}
{{- $path := printf "%s/encryption.json" .folder -}}
{{- dict "arguments" (dict "encryption-provider-config" $path)
  "files" (list (dict "path" $path "owner" "root:root" "permissions" "0600" "contentFrom" (dict
    "secret" (dict "name" (include "telco-cloud-init.encryptionSecret" .root) "key" "encryption.json")))) | toJson -}}
{{- end -}}
{{- end -}}

{{- define "telco-cloud-init.oidc" -}}
{{- $arguments := dict -}}
{{- $files := list -}}
{{- with .kubernetes.oidc -}}
{{- if .issuer_url -}}
{{- $oidc := . -}}
{{- range $key := list "issuer_url" "client_id" "username_claim" "username_prefix" "groups_claim" "groups_prefix" -}}
{{- with get $oidc $key -}}{{- $_ := set $arguments (printf "oidc-%s" ($key | replace "_" "-")) . -}}{{- end -}}
{{- end -}}
{{- with .ca -}}
{{- $path := printf "%s/oidc-ca.pem" $.folder -}}
{{- $_ := set $arguments "oidc-ca-file" $path -}}
{{- $files = list (include "telco-cloud-init.apiServerFile" (dict "path" $path "content" .) | fromJson) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "arguments" $arguments "files" $files | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.admission" -}}
{{- $arguments := dict -}}
{{- $files := list -}}
{{- $fields := dict -}}
{{- with .kubernetes.admission -}}
{{- /* The argument replaces what kubeadm and RKE2 have. */ -}}
{{- with .plugins -}}{{- $_ := set $arguments "enable-admission-plugins" (prepend . "NodeRestriction" | uniq | join ",") -}}{{- end -}}
{{- with .disabled_plugins -}}{{- $_ := set $arguments "disable-admission-plugins" (join "," .) -}}{{- end -}}
{{- $security := .pod_security | default dict -}}
{{- $defaults := dict -}}
{{- range $mode := list "enforce" "audit" "warn" -}}
{{- with get $security $mode -}}{{- $_ := set $defaults $mode . -}}{{- $_ := set $defaults (printf "%s-version" $mode) "latest" -}}{{- end -}}
{{- end -}}
{{- if $defaults -}}
{{- /* The last two are those of RKE2's Calico. */ -}}
{{- $exempt := concat (ternary (list "kube-system" "tigera-operator" "calico-system") (list "kube-system") $.rke2) ($security.exempt_namespaces | default list) | uniq -}}
{{- $configuration := dict "apiVersion" "pod-security.admission.config.k8s.io/v1" "kind" "PodSecurityConfiguration"
  "defaults" $defaults "exemptions" (dict "namespaces" $exempt) -}}
{{- $path := printf "%s/admission.json" $.folder -}}
{{- $files = list (include "telco-cloud-init.apiServerFile" (dict "path" $path "content" (dict
  "apiVersion" "apiserver.config.k8s.io/v1" "kind" "AdmissionConfiguration"
  "plugins" (list (dict "name" "PodSecurity" "configuration" $configuration)) | toJson)) | fromJson) -}}
{{- if $.rke2 -}}
{{- $_ := set $fields "agentConfig/podSecurityAdmissionConfigFile" $path -}}
{{- else -}}
{{- $_ := set $arguments "admission-control-config-file" $path -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "arguments" $arguments "files" $files "fields" $fields | toJson -}}
{{- end -}}

{{/* The name of the Secret with the keys. It changes with them: only so the control plane is replaced. Without secret_fingerprint_key, as from Git,
     only the names of the keys and what they are used for count. */}}
{{- define "telco-cloud-init.encryptionSecret" -}}
{{- $encryption := .Values.cluster.kubernetes.encryption_at_rest -}}
{{- $public := list ($encryption.provider | default "secretbox") -}}
{{- range $encryption.keys -}}{{- $public = append $public (printf "%s %t" .name (default false .decrypt_only)) -}}{{- end -}}
{{- $fingerprint := include "telco-cloud-init.fingerprint" (dict "root" . "text" (include "telco-cloud-init.encryptionConfiguration" .)) -}}
{{- printf "%s-%s" (include "telco-cloud-init.called" (dict "root" . "name" "telco-cloud-init-machine-encryption")) (append $public $fingerprint | toJson | sha256sum | trunc 8) -}}
{{- end -}}

{{/* Kubernetes' EncryptionConfiguration. The first provider encrypts, with its first key; identity leaves Secrets in clear. */}}
{{- define "telco-cloud-init.encryptionConfiguration" -}}
{{- $encryption := .Values.cluster.kubernetes.encryption_at_rest -}}
{{- $encrypt := list -}}
{{- $decrypt := list -}}
{{- range $encryption.keys -}}
{{- $key := dict "name" .name "secret" .secret -}}
{{- if .decrypt_only -}}{{- $decrypt = append $decrypt $key -}}{{- else -}}{{- $encrypt = append $encrypt $key -}}{{- end -}}
{{- end -}}
{{- $providers := list (dict ($encryption.provider | default "secretbox") (dict "keys" (concat $encrypt $decrypt))) (dict "identity" dict) -}}
{{- if not $encrypt -}}{{- $providers = reverse $providers -}}{{- end -}}
{{- dict "apiVersion" "apiserver.config.k8s.io/v1" "kind" "EncryptionConfiguration"
  "resources" (list (dict "resources" (list "secrets") "providers" $providers)) | toJson -}}
{{- end -}}
