{{/* The git repository entry that component .name uses, as JSON. */}}
{{- define "telco-cloud-init.repo" -}}
{{- $component := index .root.Values.components .name -}}
{{- get .root.Values.git_repo_templates $component.repo | default dict | toJson -}}
{{- end -}}

{{/* A repository's address as Flux takes it: git@HOST:PATH becomes ssh://git@HOST/PATH. */}}
{{- define "telco-cloud-init.gitAddress" -}}
{{- if contains "://" . -}}
{{- . -}}
{{- else if regexMatch "^([^@/:\\s]+@)?[^@/:\\s]+:[^\\s]+$" . -}}
{{- $user := ternary (regexReplaceAll "@.*$" . "") "git" (contains "@" (regexReplaceAll ":.*$" . "")) -}}
{{- printf "ssh://%s@%s/%s" $user (regexReplaceAll "^([^@/:]*@)?([^:]*):.*$" . "${2}") (regexReplaceAll "^[^:]*:/*" . "") -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{/* Host of an address, with its port unless the scheme has it by default. */}}
{{- define "telco-cloud-init.gitHost" -}}
{{- $host := regexReplaceAll "^[a-z]+://([^@/]*@)?([^/]*).*$" . "${2}" | lower -}}
{{- $port := get (dict "https" ":443" "http" ":80" "ssh" ":22") (regexReplaceAll "://.*$" . "") -}}
{{- if $port -}}{{- $host = trimSuffix $port $host -}}{{- end -}}
{{- $host -}}
{{- end -}}

{{/* URL of the repository of component .name. */}}
{{- define "telco-cloud-init.repoURL" -}}
{{- $repo := include "telco-cloud-init.repo" . | fromJson -}}
{{- if $repo.base_url -}}
{{- printf "%s/%s.git" (include "telco-cloud-init.gitAddress" (toString $repo.base_url) | trimSuffix "/") .name -}}
{{- else -}}
{{- include "telco-cloud-init.gitAddress" (toString $repo.url) -}}
{{- end -}}
{{- end -}}

{{/* Name of the GitRepository of component .name: shared per entry, but the component's own when its URL or its
     reference are its own. */}}
{{- define "telco-cloud-init.repoName" -}}
{{- $component := index .root.Values.components .name -}}
{{- $repo := include "telco-cloud-init.repo" . | fromJson -}}
{{- $name := $component.repo -}}
{{- if or $repo.base_url $component.ref_override -}}{{- $name = printf "%s-%s" $component.repo .name -}}{{- end -}}
{{- include "telco-cloud-init.called" (dict "root" .root "name" $name) -}}
{{- end -}}

{{/* How git entry .repo is logged in to at .url, as JSON: {name, username, password, ca, identity, known_hosts} of a Secret that the chart
     makes, {name} of one that is there; {} for none. The default login goes to its own hosts only. */}}
{{- define "telco-cloud-init.gitLogin" -}}
{{- $entry := get .root.Values.git_repo_templates .repo | default dict -}}
{{- $default := .root.Values.git_auth_default -}}
{{- $auth := $default -}}
{{- if hasKey $entry "auth" -}}
{{- $auth = $entry.auth | default dict -}}
{{- else if not (has (include "telco-cloud-init.gitHost" .url) ($default.hosts | default list)) -}}
{{- $auth = dict -}}
{{- end -}}
{{- if $auth.secret -}}
{{- dict "name" $auth.secret | toJson -}}
{{- else -}}
{{- $made := dict -}}
{{- if hasPrefix "ssh://" .url -}}
{{- with $auth.ssh_private_key -}}{{- $made = dict "identity" . "known_hosts" $auth.known_hosts -}}{{- end -}}
{{- else -}}
{{- with $auth.password -}}{{- $made = dict "username" ($auth.username | default "git") "password" . -}}{{- end -}}
{{- with $entry.ca -}}{{- $_ := set $made "ca" . -}}{{- end -}}
{{- end -}}
{{- if $made -}}{{- $_ := set $made "name" (include "telco-cloud-init.called" (dict "root" .root "name" (printf "git-auth-%s" .repo))) -}}{{- end -}}
{{- toJson $made -}}
{{- end -}}
{{- end -}}
