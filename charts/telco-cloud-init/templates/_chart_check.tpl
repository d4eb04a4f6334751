{{/* Components that are Helm charts, and that Flux would refuse or read from the wrong place. */}}
{{- define "telco-cloud-init.checkChart" -}}
{{- $made := dict -}}
{{- $foreign := dict -}}
{{- range $name, $component := .Values.components -}}
{{- if and $component.chart (include "telco-cloud-init.enabled" (dict "root" $ "name" $name)) -}}
{{- $path := printf "components.%s" $name -}}
{{- range include "telco-cloud-init.notWithChart" $ | splitList " " -}}
{{- if hasKey $component (trim .) -}}
{{- printf "values/invalid: %s has both chart and %s, which is for a folder of manifests\nhint: leave out one of them\n" $path (trim .) -}}
{{- end -}}
{{- end -}}
{{- range list "targetNamespace" "kubeConfig" "postBuild" -}}
{{- if hasKey ($component.spec | default dict) . -}}
{{- printf "values/invalid: %s.spec.%s does not go together with %s.chart\nhint: leave it out, and patch the HelmRelease with %s.spec.patches\n" $path . $path $path -}}
{{- end -}}
{{- end -}}
{{- if not $component.namespaces -}}
{{- printf "values/invalid: %s.chart has no namespace to be installed in\nhint: name it in %s.namespaces\n" $path $path -}}
{{- end -}}
{{- if gt (len $name) 53 -}}
{{- printf "values/invalid: components has %q, which is too long for the name of a Helm release\nhint: give a chart's component a name of at most 53 characters\n" $name -}}
{{- end -}}
{{- include "telco-cloud-init.checkChartSource" (dict "path" (printf "%s.chart" $path) "chart" $component.chart) -}}
{{- range list "auth" "ca" "values" -}}
{{- $_ := set $made (include "telco-cloud-init.chartObject" (dict "root" $ "kind" . "name" $name)) (printf "%s.chart" $path) -}}
{{- end -}}
{{- with ($component.chart.auth | default dict).secret -}}{{- $_ := set $foreign . (printf "%s.chart" $path) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $owner := $foreign -}}
{{- if hasKey $made $name -}}
{{- printf "values/invalid: %s has auth.secret %s, which is the Secret that the chart makes for %s\nhint: give your Secret another name\n" $owner $name (get $made $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Where chart .chart, which is at .path, comes from. The message must not contain the address: it may have a password. */}}
{{- define "telco-cloud-init.checkChartSource" -}}
{{- $chart := .chart -}}
{{- $auth := $chart.auth | default dict -}}
{{- $url := toString ($chart.url | default "") -}}
{{- if regexMatch "^[A-Za-z]+://[^/]*@" $url -}}
{{- printf "values/invalid: %s.url holds credentials, and would be readable in the cluster as it is\nhint: leave them out of it, and give them as %s.auth\n" .path .path -}}
{{- else if not (regexMatch "^(https?|oci)://([^@/:?#\\s]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]{1,5})?(/[^?#\\s\\\\]*)?$" $url) -}}
{{- printf "values/invalid: %s.url is not the address of a Helm repository or a registry\nhint: write it as https://HOST/PATH or oci://HOST/PATH, without the chart's name\n" .path -}}
{{- else if and (hasPrefix "http://" $url) (not $chart.allow_http) -}}
{{- printf "values/invalid: %s.url is an address over http: anyone in between can change what is installed\nhint: use https, or accept it with %s.allow_http=true\n" .path .path -}}
{{- end -}}
{{- if not $chart.name -}}
{{- printf "values/invalid: %s has no name\nhint: give the chart's name in the repository as %s.name\n" .path .path -}}
{{- end -}}
{{- if not (regexMatch "^v?(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\\+[0-9A-Za-z.-]+)?$" (toString ($chart.version | default ""))) -}}
{{- printf "values/invalid: %s.version is not one version: each cluster would get the newest chart of its day\nhint: give the chart's exact version, for example 1.2.3\n" .path -}}
{{- end -}}
{{- include "telco-cloud-init.checkLogin" (dict "path" (printf "%s.auth" .path) "login" $auth) -}}
{{- if and (not $auth.secret) (ne (empty $auth.username) (empty $auth.password)) -}}
{{- printf "values/invalid: %s.auth needs both username and password\nhint: give both, or the name of a Secret as %s.auth.secret\n" .path .path -}}
{{- else if and $auth.secret (or $auth.username $auth.password) -}}
{{- printf "values/invalid: %s.auth has both secret and a login\nhint: leave out one of them\n" .path -}}
{{- end -}}
{{- if and $chart.ca (or $chart.allow_http (hasPrefix "http://" $url)) -}}
{{- printf "values/invalid: %s.ca is for an address over TLS\nhint: leave it out, or leave out %s.allow_http\n" .path .path -}}
{{- end -}}
{{- end -}}
