{{/* What a component that is a Helm chart does not have: it has no manifests of its own. */}}
{{- define "telco-cloud-init.notWithChart" -}}
path repo ref_override substitute controllers
{{- end -}}

{{/* Name of object .kind (source, auth, ca or values) of component .name, which is a Helm chart. */}}
{{- define "telco-cloud-init.chartObject" -}}
{{- $name := printf "chart-%s%s" (ternary "" (printf "%s-" .kind) (eq .kind "source")) .name -}}
{{- include "telco-cloud-init.called" (dict "root" .root "name" $name) -}}
{{- end -}}

{{/* Name of the HelmRelease of component .name. No cluster's name has a dot: it is not the release of another workload cluster. */}}
{{- define "telco-cloud-init.chartRelease" -}}
{{- if eq .root.Values.phase "workload" -}}{{- printf "%s.%s" .root.Values.cluster.name .name -}}{{- else -}}{{- .name -}}{{- end -}}
{{- end -}}

{{/* The objects of component .name, a Helm chart, that Flux reads, as JSON: {source: {apiVersion, kind, spec}, secrets: {NAME: {type, stringData}}}.
     A registry wants its login in another form than a repository. */}}
{{- define "telco-cloud-init.chartObjects" -}}
{{- $chart := (index .root.Values.components .name).chart -}}
{{- $oci := hasPrefix "oci://" $chart.url -}}
{{- $url := trimSuffix "/" $chart.url -}}
{{- $spec := dict "interval" .root.Values.flux.interval "url" $url -}}
{{- if $oci -}}
{{- $_ := set $spec "url" (printf "%s/%s" $url $chart.name) -}}
{{- /* A tag cannot hold a plus sign; Helm writes an underscore for it. */ -}}
{{- $_ := set $spec "ref" (dict "tag" ($chart.version | replace "+" "_")) -}}
{{- $_ := set $spec "layerSelector" (dict "mediaType" "application/vnd.cncf.helm.chart.content.v1.tar+gzip" "operation" "copy") -}}
{{- if $chart.allow_http -}}{{- $_ := set $spec "insecure" true -}}{{- end -}}
{{- end -}}
{{- $secrets := dict -}}
{{- $auth := $chart.auth | default dict -}}
{{- if $auth.secret -}}
{{- $_ := set $spec "secretRef" (dict "name" $auth.secret) -}}
{{- else if $auth.password -}}
{{- $name := include "telco-cloud-init.chartObject" (dict "root" .root "kind" "auth" "name" .name) -}}
{{- $_ := set $spec "secretRef" (dict "name" $name) -}}
{{- $secret := dict "stringData" (dict "username" $auth.username "password" $auth.password) -}}
{{- if $oci -}}
{{- $login := dict "username" $auth.username "password" $auth.password "auth" (printf "%s:%s" $auth.username $auth.password | b64enc) -}}
{{- $config := dict "auths" (dict (include "telco-cloud-init.gitHost" $url) $login) -}}
{{- $secret = dict "type" "kubernetes.io/dockerconfigjson" "stringData" (dict ".dockerconfigjson" (toJson $config)) -}}
{{- end -}}
{{- $_ := set $secrets $name $secret -}}
{{- end -}}
{{- with $chart.ca -}}
{{- $name := include "telco-cloud-init.chartObject" (dict "root" $.root "kind" "ca" "name" $.name) -}}
{{- $_ := set $spec "certSecretRef" (dict "name" $name) -}}
{{- $_ := set $secrets $name (dict "stringData" (dict "ca.crt" .)) -}}
{{- end -}}
{{- with $chart.values -}}
{{- /* They may hold passwords, and any text: as JSON, as some texts look like numbers. */ -}}
{{- $_ := set $secrets (include "telco-cloud-init.chartObject" (dict "root" $.root "kind" "values" "name" $.name)) (dict "stringData" (dict "values.yaml" (toJson .))) -}}
{{- end -}}
{{- dict "source" (dict "kind" (ternary "OCIRepository" "HelmRepository" $oci) "spec" $spec) "secrets" $secrets | toJson -}}
{{- end -}}

{{/* {patches: [...]} for component .name, a Helm chart: what its HelmRelease installs, and where. */}}
{{- define "telco-cloud-init.chartPatches" -}}
{{- $component := index .root.Values.components .name -}}
{{- $chart := $component.chart -}}
{{- $source := dict "kind" "HelmRepository" "name" (include "telco-cloud-init.chartObject" (dict "root" .root "kind" "source" "name" .name)) -}}
{{- $set := dict
  "interval" .root.Values.flux.interval
  "timeout" .root.Values.flux.timeout
  "releaseName" .name
  "targetNamespace" (first $component.namespaces)
-}}
{{- if hasPrefix "oci://" $chart.url -}}
{{- $_ := set $set "chartRef" (set $source "kind" "OCIRepository") -}}
{{- else -}}
{{- $_ := set $set "chart" (dict "spec" (dict "chart" $chart.name "version" $chart.version "sourceRef" $source)) -}}
{{- end -}}
{{- with $chart.values -}}
{{- $secret := include "telco-cloud-init.chartObject" (dict "root" $.root "kind" "values" "name" $.name) -}}
{{- /* Nothing has the second key: it only changes the release when the values change, so that the new ones are waited for. */ -}}
{{- $changed := printf "fingerprint-%s" (include "telco-cloud-init.fingerprint" (dict "root" $.root "text" (toJson .))) -}}
{{- $_ := set $set "valuesFrom" (list
  (dict "kind" "Secret" "name" $secret "valuesKey" "values.yaml")
  (dict "kind" "Secret" "name" $secret "valuesKey" $changed "optional" true)) -}}
{{- end -}}
{{- $operations := list (dict "op" "replace" "path" "/metadata/name" "value" (include "telco-cloud-init.chartRelease" .)) -}}
{{- with include "telco-cloud-init.kubeConfig" . | fromJson -}}
{{- $_ := set $set "kubeConfig" . -}}
{{- /* The default is the HelmRelease's own namespace, which is not in that cluster. */ -}}
{{- $_ := set $set "storageNamespace" (first $component.namespaces) -}}
{{- $labels := dict "cluster-init.io/cluster" $.root.Values.cluster.name -}}
{{- $operations = append $operations (dict "op" "add" "path" "/metadata/labels" "value" $labels) -}}
{{- end -}}
{{- range $key, $value := $set -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "/spec/%s" $key) "value" $value) -}}
{{- end -}}
{{- dict "patches" (list (include "telco-cloud-init.patch" (dict "target" (dict "kind" "HelmRelease" "name" "chart") "operations" $operations) | fromJson)) | toJson -}}
{{- end -}}
