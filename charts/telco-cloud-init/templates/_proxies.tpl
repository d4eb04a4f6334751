{{/* no_proxy with all that must never go through a proxy around the management cluster. It must not depend on the phase, as it is in the
     templates of machines. */}}
{{- define "telco-cloud-init.noProxy" -}}
{{- $cluster := .Values.cluster -}}
{{- $addresses := concat (splitList "," .Values.proxies.no_proxy) (list "localhost" "127.0.0.1" $cluster.pod_cidr $cluster.service_cidr) -}}
{{- /* Flux ends names of services with a dot, which Go's HTTP client compares too. The last is the registry next to the clusters. */ -}}
{{- $addresses = concat $addresses (list ".svc" ".cluster.local" ".cluster.local." (printf "%s-registry" $cluster.name)) -}}
{{- range $cluster.registry_mirrors -}}
{{- $addresses = append $addresses (urlParse .url).hostname -}}
{{- end -}}
{{- with $cluster.kubernetes_mirror -}}{{- $addresses = append $addresses (urlParse .).hostname -}}{{- end -}}
{{- $provider := include "telco-cloud-init.provider" (dict "root" . "template" "noProxy" "context" .) -}}
{{- $trimmed := list -}}
{{- range concat $addresses (splitList "," $provider) -}}{{- $trimmed = append $trimmed (trim .) -}}{{- end -}}
{{- $trimmed | compact | uniq | join "," -}}
{{- end -}}

{{/* The same for controllers. cluster-init reads it from here, for Flux, for the bootstrap cluster's node and for itself. Kind's pods and services
     have ranges of their own, whatever the management cluster has: outside of the bootstrap cluster other networks may use them. */}}
{{- define "telco-cloud-init.controllerNoProxy" -}}
{{- $addresses := splitList "," (include "telco-cloud-init.noProxy" .) -}}
{{- if eq .Values.phase "bootstrap" -}}{{- $addresses = concat $addresses (list "10.244.0.0/16" "10.96.0.0/16") -}}{{- end -}}
{{- $addresses | uniq | join "," -}}
{{- end -}}

{{/* {NAME: value} of the proxy variables, as JSON; empty when there is no proxy. */}}
{{- define "telco-cloud-init.proxyVariables" -}}
{{- $variables := dict -}}
{{- with .Values.proxies.http_proxy -}}{{- $_ := set $variables "HTTP_PROXY" . -}}{{- end -}}
{{- with .Values.proxies.https_proxy -}}{{- $_ := set $variables "HTTPS_PROXY" . -}}{{- end -}}
{{- if $variables -}}
{{- $_ := set $variables "NO_PROXY" (include "telco-cloud-init.noProxy" .) -}}
{{- toJson $variables -}}
{{- end -}}
{{- end -}}

{{/* The same for controllers, as JSON; {} when there is no proxy. */}}
{{- define "telco-cloud-init.controllerProxies" -}}
{{- $variables := dict -}}
{{- with include "telco-cloud-init.proxyVariables" . -}}
{{- $variables = set (fromJson .) "NO_PROXY" (include "telco-cloud-init.controllerNoProxy" $) -}}
{{- end -}}
{{- toJson $variables -}}
{{- end -}}

{{/* {controllers: [...]}: those containers of component .name that get the proxies, if there are any, as JSON. */}}
{{- define "telco-cloud-init.proxied" -}}
{{- $proxied := list -}}
{{- if include "telco-cloud-init.proxyVariables" .root -}}
{{- range (index .root.Values.components .name).controllers -}}
{{- if ne (toString .proxies) "false" -}}{{- $proxied = append $proxied . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "controllers" $proxied | toJson -}}
{{- end -}}

{{/* What names proxy variables .variables without their passwords: their public parts, and a fingerprint of all. It
     changes when one of them does. */}}
{{- define "telco-cloud-init.proxiesVersion" -}}
{{- $public := dict -}}
{{- $login := false -}}
{{- range $name, $value := .variables -}}
{{- $without := regexReplaceAll "^([a-z0-9]+://)[^/]*@" $value "${1}" -}}
{{- if ne $without $value -}}{{- $login = true -}}{{- end -}}
{{- $_ := set $public $name $without -}}
{{- end -}}
{{- if $login -}}
{{- $_ := set $public "login" (include "telco-cloud-init.fingerprint" (dict "root" .root "text" (toJson .variables))) -}}
{{- end -}}
{{- toJson $public | sha256sum | trunc 8 -}}
{{- end -}}

{{/* The files with proxies that machines have, {path: text} as JSON, in the terms of their bootstrap provider. */}}
{{- define "telco-cloud-init.proxyFiles" -}}
{{- if include "telco-cloud-init.proxyVariables" . -}}
{{- include (printf "telco-cloud-init.%sProxyFiles" .Values.cluster.bootstrap_provider) . -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* Key of .path in the Secret of the machines' proxies. */}}
{{- define "telco-cloud-init.proxyFileKey" -}}
{{- trimPrefix "/" .path | replace "/" "." -}}
{{- end -}}

{{/* {files: [...]}: those files as machines reference them, without their content. */}}
{{- define "telco-cloud-init.proxyFileList" -}}
{{- $files := list -}}
{{- $secret := include "telco-cloud-init.called" (dict "root" . "name" "telco-cloud-init-machine-proxies") -}}
{{- range $path, $_ := include "telco-cloud-init.proxyFiles" . | fromJson -}}
{{- $key := include "telco-cloud-init.proxyFileKey" (dict "path" $path) -}}
{{- $files = append $files (dict "path" $path "owner" "root:root" "permissions" "0600"
  "contentFrom" (dict "secret" (dict "name" $secret "key" $key))) -}}
{{- end -}}
{{- dict "files" $files | toJson -}}
{{- end -}}

{{/* Components whose containers get the proxies, and no Secret to read them from. */}}
{{- define "telco-cloud-init.checkProxies" -}}
{{- range $name, $component := .Values.components -}}
{{- $args := dict "root" $ "name" $name -}}
{{- $proxied := (include "telco-cloud-init.proxied" $args | fromJson).controllers -}}
{{- if and $proxied (not $component.namespaces) (include "telco-cloud-init.enabled" $args) -}}
{{- printf "values/invalid: components.%s.namespaces is empty: its controllers read the proxies from a Secret in their namespace\nhint: List the namespaces of its Deployments.\n" $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
