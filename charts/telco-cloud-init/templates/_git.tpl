{{/* The git repository entry that component .name uses, as JSON. */}}
{{- define "telco-cloud-init.repo" -}}
{{- $component := index .root.Values.components .name -}}
{{- get .root.Values.git_repo_templates $component.repo | default dict | toJson -}}
{{- end -}}

{{/* Components whose repository is in no entry. */}}
{{- define "telco-cloud-init.checkGit" -}}
{{- range $name, $component := .Values.components -}}
{{- if and $component.repo (not (hasKey $.Values.git_repo_templates $component.repo)) (include "telco-cloud-init.enabled" (dict "root" $ "name" $name)) -}}
{{- printf "values/invalid: components.%s.repo is %q, which is not in git_repo_templates; there are: %s\n" $name $component.repo (keys $.Values.git_repo_templates | sortAlpha | join ", " | default "none") -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Name of the GitRepository of component .name: shared per entry, but the component's own when its URL or its
     reference are its own. */}}
{{- define "telco-cloud-init.repoName" -}}
{{- $component := index .root.Values.components .name -}}
{{- $repo := include "telco-cloud-init.repo" . | fromJson -}}
{{- if or $repo.base_url $component.ref_override -}}
{{- printf "%s-%s" $component.repo .name -}}
{{- else -}}
{{- $component.repo -}}
{{- end -}}
{{- end -}}

{{/* Name of the Secret for git entry .repo, empty when it needs none. */}}
{{- define "telco-cloud-init.gitSecret" -}}
{{- $entry := get .root.Values.git_repo_templates .repo | default dict -}}
{{- $auth := ternary $entry.auth .root.Values.git_auth_default (hasKey $entry "auth") | default dict -}}
{{- if $auth.secret -}}
{{- $auth.secret -}}
{{- else if $auth.password -}}
{{- printf "git-auth-%s" .repo -}}
{{- end -}}
{{- end -}}
