{{/* The git repository entry that component .name uses, as JSON; it fails when there is no such entry. */}}
{{- define "telco-cloud-init.repo" -}}
{{- $component := index .root.Values.components .name -}}
{{- if not (hasKey .root.Values.git_repo_templates $component.repo) -}}
{{- fail (printf "values/invalid: components.%s.repo is %q, which is not in git_repo_templates; there are: %s" .name $component.repo (keys .root.Values.git_repo_templates | sortAlpha | join ", " | default "none")) -}}
{{- end -}}
{{- index .root.Values.git_repo_templates $component.repo | toJson -}}
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
{{- $entry := index .root.Values.git_repo_templates .repo -}}
{{- $auth := ternary $entry.auth .root.Values.git_auth_default (hasKey $entry "auth") | default dict -}}
{{- if $auth.secret -}}
{{- $auth.secret -}}
{{- else if $auth.password -}}
{{- printf "git-auth-%s" .repo -}}
{{- end -}}
{{- end -}}
