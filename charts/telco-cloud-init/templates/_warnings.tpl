{{/* What an environment may ask for, and what its owner should know: one line for each. cluster-init says them, and
     NOTES.txt. */}}
{{- define "telco-cloud-init.warnings" -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- if .skip_verify -}}
{{- printf "cluster.registry_mirrors: the certificate of the mirror of %s is not verified (skip_verify): anyone in between can change images\n" .host -}}
{{- else if and (hasPrefix "http://" .url) (ne (urlParse .url).hostname (printf "%s-registry" $.Values.cluster.name)) -}}
{{- printf "cluster.registry_mirrors: the mirror of %s is reached over http: anyone in between can change images\n" .host -}}
{{- end -}}
{{- end -}}
{{- include "telco-cloud-init.provider" (dict "root" . "template" "warnings" "context" .) -}}
{{- include "telco-cloud-init.backupWarnings" . -}}
{{- $seen := dict -}}
{{- range $name, $component := .Values.components -}}
{{- $args := dict "root" $ "name" $name -}}
{{- if and $component.chart ($component.chart | default dict).allow_http (include "telco-cloud-init.enabled" $args) -}}
{{- printf "components.%s.chart is read over http: anyone in between can change what is installed\n" $name -}}
{{- end -}}
{{- if and $component.repo (include "telco-cloud-init.enabled" $args) (hasKey $.Values.git_repo_templates $component.repo) (not (hasKey $seen $component.repo)) -}}
{{- $_ := set $seen $component.repo true -}}
{{- $url := include "telco-cloud-init.repoURL" $args -}}
{{- $default := $.Values.git_auth_default -}}
{{- $host := include "telco-cloud-init.gitHost" $url -}}
{{- if hasPrefix "http://" $url -}}
{{- printf "git_repo_templates.%s is read over http: anyone in between can change what is installed\n" $component.repo -}}
{{- end -}}
{{- if and (or $default.password $default.secret) (not (hasKey (index $.Values.git_repo_templates $component.repo) "auth")) (not (has $host ($default.hosts | default list))) -}}
{{- printf "git_repo_templates.%s is read without credentials: git_auth_default.hosts does not have %s\n" $component.repo $host -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.git_auth_default.registry_hosts (not .Values.git_auth_default.password) -}}
{{- "git_auth_default.registry_hosts is given without git_auth_default.password: images are pulled without credentials\n" -}}
{{- end -}}
{{- end -}}
