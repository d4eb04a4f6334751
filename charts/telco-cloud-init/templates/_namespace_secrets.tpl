{{/* The Secrets that component .name needs in each of its namespaces before its pods, as {secrets: [...]}: the name of
     each one's folder in kustomize-components, the prefix of its variables, and the Secret that Flux takes them from. */}}
{{- define "telco-cloud-init.namespaceSecrets" -}}
{{- $secrets := list -}}
{{- if include "telco-cloud-init.namespaces" . | fromJsonArray -}}
{{- if include "telco-cloud-init.dockerConfig" .root -}}
{{- $secrets = append $secrets (dict "folder" "pull-secret" "variables" "PULL_SECRET" "from" "telco-cloud-init-pull-secret") -}}
{{- end -}}
{{- if (include "telco-cloud-init.proxied" . | fromJson).controllers -}}
{{- $secrets = append $secrets (dict "folder" "proxies" "variables" "PROXIES" "from" "telco-cloud-init-proxy-variables") -}}
{{- end -}}
{{- end -}}
{{- dict "secrets" $secrets | toJson -}}
{{- end -}}

{{/* Name of the Kustomization of Secret .folder for component .name in .namespace: Flux puts it into a label, of at most
     63 characters. */}}
{{- define "telco-cloud-init.namespaceSecretName" -}}
{{- $name := printf "%s-%s-%s" (include "telco-cloud-init.called" .) .folder .namespace -}}
{{- if gt (len $name) 63 -}}{{- $name = printf "%s-%s" (trunc 54 $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}{{- end -}}
{{- $name -}}
{{- end -}}
