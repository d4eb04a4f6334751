{{/* The pod network that RKE2 brings: none when the component cni brings one. */}}
{{- define "telco-cloud-init.rke2CNI" -}}
{{- ternary .Values.cluster.rke2.cni "none" (eq .Values.cni "none") -}}
{{- end -}}

{{/* What RKE2's machines need, see telco-cloud-init.machineFiles: registry mirrors as its registries.yaml, proxies for it
     and for its installer, and the checksum of its artifacts. */}}
{{- define "telco-cloud-init.rke2Machine" -}}
{{- $files := list -}}
{{- $commands := list -}}
{{- $fields := dict -}}
{{- with (include "telco-cloud-init.proxyFileList" . | fromJson).files -}}
{{- $files = concat $files . -}}
{{- end -}}
{{- $config := dict -}}
{{- with .Values.cluster.registry_mirrors -}}
{{- $mirrors := dict -}}
{{- $only := list -}}
{{- range . -}}
{{- /* RKE2 uses the path as the API's root, where containerd adds /v2 unless override_path is set. */ -}}
{{- $url := trimSuffix "/" .url -}}
{{- if and (urlParse $url).path (not .override_path) -}}{{- $url = printf "%s/v2" $url -}}{{- end -}}
{{- $host := ternary "*" .host (eq .host "_default") -}}
{{- $endpoints := (get $mirrors $host | default dict).endpoint | default list -}}
{{- $_ := set $mirrors $host (dict "endpoint" (append $endpoints $url)) -}}
{{- if .only -}}{{- $only = append $only .host -}}{{- end -}}
{{- end -}}
{{- /* RKE2 knows this for all registries or for none. */ -}}
{{- if $only -}}
{{- $_ := set $config "disable-default-registry-endpoint" true -}}
{{- end -}}
{{- $fields = dict "privateRegistriesConfig" (dict "mirrors" $mirrors) -}}
{{- end -}}
{{- if $config -}}
{{- /* In addition to the provider's config.yaml, as the provider (v0.21.0) has no field for it. */ -}}
{{- $files = append $files (dict
  "path" "/etc/rancher/rke2/config.yaml.d/50-registries.yaml"
  "owner" "root:root" "permissions" "0600"
  "content" (toYaml $config | printf "%s\n")) -}}
{{- end -}}
{{- with .Values.cluster.rke2.air_gapped_checksum -}}
{{- /* Not agentConfig.airGappedChecksum: with it, the provider (v0.21.0) writes a cloud-config that is no YAML. */ -}}
{{- $commands = append $commands (printf "cat /opt/rke2-artifacts/sha256sum-*.txt | sha256sum | grep -q '^%s ' || { echo 'cluster.rke2.air_gapped_checksum is not that of /opt/rke2-artifacts/sha256sum-*.txt' >&2; exit 1; }" .) -}}
{{- end -}}
{{- dict "files" $files "commands" $commands "fields" $fields | toJson -}}
{{- end -}}

{{/* See telco-cloud-init.proxyFiles. */}}
{{- define "telco-cloud-init.rke2ProxyFiles" -}}
{{- $variables := include "telco-cloud-init.proxyVariables" . | fromJson -}}
{{- $lines := list -}}
{{- range $name, $value := $variables -}}{{- $lines = append $lines (printf "%s=%q" $name $value) -}}{{- end -}}
{{- $files := dict -}}
{{- range list "server" "agent" -}}
{{- $_ := set $files (printf "/etc/default/rke2-%s" .) (printf "%s\n" (join "\n" $lines)) -}}
{{- end -}}
{{- if not .Values.cluster.rke2.air_gapped -}}
{{- /* The installer is fetched by curl, which each machine runs as root. */ -}}
{{- $proxy := coalesce $variables.HTTPS_PROXY $variables.HTTP_PROXY -}}
{{- $_ := set $files "/root/.curlrc" (printf "proxy = %q\nnoproxy = %q\n" $proxy $variables.NO_PROXY) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* What RKE2's provider would refuse later, or not do. */}}
{{- define "telco-cloud-init.checkRKE2" -}}
{{- $version := .Values.cluster.kubernetes_version -}}
{{- if not (regexMatch "^v[0-9]\\.[0-9]{2}\\.[0-9]+\\+rke2r[0-9]$" $version) -}}
{{- printf "values/invalid: cluster.kubernetes_version is %s, but RKE2 wants one of its own releases\nhint: they are called %s+rke2r1, for example\n" $version (splitList "+" $version | first) -}}
{{- end -}}
{{- $only := list -}}
{{- $first := list -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- if .only -}}{{- $only = append $only .host -}}{{- else -}}{{- $first = append $first .host -}}{{- end -}}
{{- if .skip_verify -}}
{{- printf "values/invalid: cluster.registry_mirrors for %s has skip_verify, which RKE2's provider cannot do without a client certificate\nhint: give the mirror a certificate that the machines trust, or reach it by http\n" .host -}}
{{- end -}}
{{- end -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- if .ca -}}
{{- printf "values/invalid: cluster.registry_mirrors for %s has a ca, which RKE2's provider cannot do without a client certificate\nhint: put it into cluster.trusted_cas\n" .host -}}
{{- end -}}
{{- end -}}
{{- if and $only $first -}}
{{- printf "values/invalid: cluster.registry_mirrors has only for %s and not for %s, but RKE2 asks the original registries of all or of none\nhint: set only for each of them, or for none\n" (join ", " $only) (join ", " $first) -}}
{{- end -}}
{{- if and .Values.cluster.rke2.air_gapped_checksum (not .Values.cluster.rke2.air_gapped) -}}
{{- "values/invalid: cluster.rke2.air_gapped_checksum is given, but cluster.rke2.air_gapped is false: nothing is installed from the artifacts that it speaks of\nhint: set both, or none\n" -}}
{{- end -}}
{{- end -}}
