{{/* no_proxy with all that must never go through a proxy, in the bootstrap cluster and in the management cluster: one list for
     everybody. cluster-init reads it from here, for Flux, for the bootstrap cluster's node and for itself. It must not depend on
     the phase, as it is in the templates of machines. */}}
{{- define "telco-cloud-init.noProxy" -}}
{{- $cluster := .Values.cluster -}}
{{- $addresses := concat (splitList "," .Values.proxies.no_proxy) (list "localhost" "127.0.0.1" $cluster.pod_cidr $cluster.service_cidr) -}}
{{- /* Those of kind's pods and services: the bootstrap cluster has them, whatever the management cluster has. */ -}}
{{- $addresses = concat $addresses (list "10.244.0.0/16" "10.96.0.0/16") -}}
{{- /* Flux ends names of services with a dot, which Go's HTTP client compares too. The last is the registry beside the clusters. */ -}}
{{- $addresses = concat $addresses (list ".svc" ".cluster.local" ".cluster.local." (printf "%s-registry" $cluster.name)) -}}
{{- range $cluster.registry_mirrors -}}
{{- $addresses = append $addresses (urlParse .url).hostname -}}
{{- end -}}
{{- $provider := include (printf "telco-cloud-init.%sNoProxy" $cluster.infra_provider) . -}}
{{- $trimmed := list -}}
{{- range concat $addresses (splitList "," $provider) -}}{{- $trimmed = append $trimmed (trim .) -}}{{- end -}}
{{- $trimmed | compact | uniq | join "," -}}
{{- end -}}

{{/* The ranges that Docker takes networks from: machines and the API server are in one of them. */}}
{{- define "telco-cloud-init.capdNoProxy" -}}
{{- list "172.16.0.0/12" "192.168.0.0/16" "fc00::/7" | join "," -}}
{{- end -}}

{{/* Machines, the API server and the service that tells a machine about itself, as far as they are known before. */}}
{{- define "telco-cloud-init.capoNoProxy" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- list (ternary "" $openstack.node_cidr (ne $openstack.network "")) $openstack.api_server.floating_ip $openstack.api_server.fixed_ip "169.254.169.254" | join "," -}}
{{- end -}}

{{/* The VPC that the provider makes, the API server's load balancer, and the service that tells a machine about itself. */}}
{{- define "telco-cloud-init.capaNoProxy" -}}
{{- $region := .Values.cluster.aws.region -}}
{{- $domain := ternary "amazonaws.com.cn" "amazonaws.com" (hasPrefix "cn-" $region) -}}
{{- list "10.0.0.0/16" (ternary (printf ".elb.%s.%s" $region $domain) "" (ne $region "")) "169.254.169.254" | join "," -}}
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
