{{/* no_proxy with all that must never go through a proxy around the management cluster. It must not depend on the phase, as it is in the
     templates of machines. */}}
{{- define "telco-cloud-init.noProxy" -}}
{{- $cluster := .Values.cluster -}}
{{- $addresses := concat (splitList "," .Values.proxies.no_proxy) (list "localhost" "127.0.0.1" $cluster.pod_cidr $cluster.service_cidr) -}}
{{- /* Flux ends names of services with a dot, which Go's HTTP client compares too. The last is the registry beside the clusters. */ -}}
{{- $addresses = concat $addresses (list ".svc" ".cluster.local" ".cluster.local." (printf "%s-registry" $cluster.name)) -}}
{{- range $cluster.registry_mirrors -}}
{{- $addresses = append $addresses (urlParse .url).hostname -}}
{{- end -}}
{{- $provider := include "telco-cloud-init.provider" (dict "root" . "template" "noProxy" "context" .) -}}
{{- $trimmed := list -}}
{{- range concat $addresses (splitList "," $provider) -}}{{- $trimmed = append $trimmed (trim .) -}}{{- end -}}
{{- $trimmed | compact | uniq | join "," -}}
{{- end -}}

{{/* The same for controllers. cluster-init reads it from here, for Flux, for the bootstrap cluster's node and for itself. Kind's pods and services
     have ranges of their own, whatever the management cluster has: outside of the bootstrap cluster they may be somebody else's. */}}
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
