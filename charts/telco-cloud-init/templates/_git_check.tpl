{{/* Repositories, logins and names that Flux would refuse, or confuse with others. */}}
{{- define "telco-cloud-init.checkGit" -}}
{{- range $name, $entry := .Values.git_repo_templates -}}
{{- include "telco-cloud-init.checkGitName" (dict "path" "git_repo_templates" "name" $name) -}}
{{- $key := printf "git_repo_templates.%s.%s" $name (ternary "base_url" "url" (hasKey $entry "base_url")) -}}
{{- include "telco-cloud-init.checkGitURL" (dict "path" $key "url" (toString ($entry.base_url | default $entry.url))) -}}
{{- include "telco-cloud-init.checkLogin" (dict "path" (printf "git_repo_templates.%s.auth" $name) "login" ($entry.auth | default dict)) -}}
{{- end -}}
{{- range $host, $login := .Values.registry_secret -}}
{{- include "telco-cloud-init.checkLogin" (dict "path" (printf "registry_secret.%s" $host) "login" $login) -}}
{{- end -}}
{{- $owners := dict .Values.source.name "the source" -}}
{{- $secrets := dict -}}
{{- $foreign := dict -}}
{{- range $name, $component := .Values.components -}}
{{- $args := dict "root" $ "name" $name -}}
{{- if include "telco-cloud-init.enabled" $args -}}
{{- include "telco-cloud-init.checkGitName" (dict "path" "components" "name" $name) -}}
{{- if and $component.repo (not (hasKey $.Values.git_repo_templates $component.repo)) -}}
{{- printf "values/invalid: components.%s.repo is %q, which is not in git_repo_templates; there are: %s\n" $name $component.repo (keys $.Values.git_repo_templates | sortAlpha | join ", " | default "none") -}}
{{- else if $component.repo -}}
{{- $repository := include "telco-cloud-init.repoName" $args -}}
{{- $owner := printf "git_repo_templates.%s" $component.repo -}}
{{- if ne $repository $component.repo -}}{{- $owner = printf "%s for components.%s" $owner $name -}}{{- end -}}
{{- if ne (get $owners $repository | default $owner) $owner -}}
{{- printf "values/invalid: components.%s.repo: %s and %s would both be the GitRepository %s\nhint: rename the entry of git_repo_templates, or the component\n" $name (get $owners $repository) $owner $repository -}}
{{- end -}}
{{- $_ := set $owners $repository $owner -}}
{{- $url := include "telco-cloud-init.repoURL" $args -}}
{{- $login := include "telco-cloud-init.gitLogin" (dict "root" $ "repo" $component.repo "url" $url) | fromJson -}}
{{- if or $login.password $login.ca $login.identity -}}{{- $_ := set $secrets $login.name $owner -}}{{- else if $login.name -}}{{- $_ := set $foreign $login.name $owner -}}{{- end -}}
{{- $entry := get $.Values.git_repo_templates $component.repo -}}
{{- include "telco-cloud-init.checkSSH" (dict "path" (printf "git_repo_templates.%s.auth" $component.repo) "url" $url "auth" ($entry.auth | default dict)) -}}
{{- $path := ternary (printf "git_repo_templates.%s.auth" $component.repo) "git_auth_default" (hasKey $entry "auth") -}}
{{- if and $entry.ca (or (not (hasPrefix "https://" $url)) (not $login.ca)) -}}
{{- printf "values/invalid: git_repo_templates.%s.ca is for an address over https without a Secret of your own\nhint: leave it out; a Secret of your own holds it as ca.crt\n" $component.repo -}}
{{- end -}}
{{- if and (or $login.password (not $login.ca)) $login.name (hasPrefix "http://" $url) (not (ternary $entry.auth $.Values.git_auth_default (hasKey $entry "auth")).allow_http) -}}
{{- printf "values/invalid: git_repo_templates.%s is an address over http, and %s would be sent there in clear text\nhint: use https, or accept it with %s.allow_http=true\n" $component.repo $path $path -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $owner := $foreign -}}
{{- if hasKey $secrets $name -}}
{{- printf "values/invalid: %s has auth.secret %s, which is the Secret that the chart makes for %s\nhint: give your Secret another name\n" $owner $name (get $secrets $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Key .auth.ssh_private_key for the repository at .url. The message must not contain it. */}}
{{- define "telco-cloud-init.checkSSH" -}}
{{- $key := toString (.auth.ssh_private_key | default "") -}}
{{- if or $key .auth.known_hosts -}}
{{- if not (hasPrefix "ssh://" .url) -}}
{{- printf "values/invalid: %s has a key or known_hosts, which are for an address over ssh\nhint: write the address as ssh://git@HOST/PATH, or give username and password\n" .path -}}
{{- else if or .auth.secret .auth.password -}}
{{- printf "values/invalid: %s has both ssh_private_key and another login\nhint: leave out one of them\n" .path -}}
{{- else if not (and $key .auth.known_hosts) -}}
{{- printf "values/invalid: %s needs both ssh_private_key and known_hosts: Flux does not read from a server that it does not know\nhint: give both; ssh-keyscan HOST prints known_hosts\n" .path -}}
{{- else if not (regexMatch "^-----BEGIN [A-Z ]*PRIVATE KEY-----" $key) -}}
{{- printf "values/invalid: %s.ssh_private_key is not a private key\nhint: give the text of the file that ssh-keygen made, not that of the .pub file\n" .path -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Name .name of .path becomes that of an object, and a label: Kubernetes and Flux take no other. */}}
{{- define "telco-cloud-init.checkGitName" -}}
{{- if or (gt (len .name) 63) (not (regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" .name)) -}}
{{- printf "values/invalid: %s has %q, which is no name for an object\nhint: use lower-case letters, digits and -, at most 63, and a letter or a digit at both ends\n" .path .name -}}
{{- else if and (eq .path "git_repo_templates") (eq .name "telco-cloud-init") -}}
{{- "values/invalid: git_repo_templates has \"telco-cloud-init\", which is the name of the source itself\nhint: give the entry another name\n" -}}
{{- end -}}
{{- end -}}

{{/* The message must not contain the address: it may have a password. */}}
{{- define "telco-cloud-init.checkGitURL" -}}
{{- $address := include "telco-cloud-init.gitAddress" .url -}}
{{- $want := "write it as https://HOST/PATH, ssh://git@HOST/PATH or git@HOST:PATH" -}}
{{- if regexMatch "^https?://[^/]*@" $address -}}
{{- printf "values/invalid: %s holds credentials, and would be readable in both clusters as it is\nhint: leave them out of it, and give them as auth of the entry, or as git_auth_default\n" .path -}}
{{- else if regexMatch "^ssh://[^/@]*:[^/]*@" $address -}}
{{- printf "values/invalid: %s is an address over ssh with a password\nhint: leave the password out, and name a Secret with a key in auth.secret of the entry\n" .path -}}
{{- else if and (not (contains "://" .url)) (regexMatch "^([^@/:\\s]+@)?[^@/:\\s]+:[0-9]{1,5}(/.*)?$" .url) -}}
{{- printf "values/invalid: %s has digits after the host, which are a port in a URL, but part of the path in the form git@HOST:PATH\nhint: write it as ssh://git@HOST:PORT/PATH\n" .path -}}
{{- else if regexMatch "[?#]" $address -}}
{{- printf "values/invalid: %s has a part after ? or #, which Git does not know\nhint: leave it out; a branch or a tag goes into ref of the entry\n" .path -}}
{{- else if not (regexMatch "^(https?://|ssh://([^@/:\\s]+@)?)([^@/:\\s]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?/[^\\s\\\\]*[^\\s\\\\/]/*$" $address) -}}
{{- printf "values/invalid: %s is not the address of a repository on a server\nhint: %s\n" .path $want -}}
{{- end -}}
{{- end -}}

{{/* A login that no server accepts. The message must not contain it. */}}
{{- define "telco-cloud-init.checkLogin" -}}
{{- range list "username" "password" -}}
{{- if regexMatch "[\\x00-\\x1F\\x7F]" (toString (get $.login . | default "")) -}}
{{- printf "values/invalid: %s.%s has a line break or another control character\nhint: give it on one line, without one at its end\n" $.path . -}}
{{- end -}}
{{- end -}}
{{- if contains ":" (toString ($.login.username | default "")) -}}
{{- printf "values/invalid: %s.username has a colon, which ends a user name in HTTP\nhint: give the user name alone\n" $.path -}}
{{- end -}}
{{- end -}}
