{{/* What kubeadm's machines need, see telco-cloud-init.machineFiles: registry mirrors and proxies for containerd, and the
     format. */}}
{{- define "telco-cloud-init.kubeadmMachine" -}}
{{- $files := list -}}
{{- $commands := list -}}
{{- $fields := dict -}}
{{- if not (include "telco-cloud-init.machineadm" .) -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- /* containerd falls back to the server, which is the original registry unless another one is named. */ -}}
{{- $lines := list (printf (ternary "server = %q" "[host.%q]" (default false .only)) .url) "  capabilities = [\"pull\", \"resolve\"]" -}}
{{- if .override_path -}}{{- $lines = append $lines "  override_path = true" -}}{{- end -}}
{{- if .skip_verify -}}{{- $lines = append $lines "  skip_verify = true" -}}{{- end -}}
{{- if .ca -}}
{{- $ca := printf "/etc/containerd/certs.d/%s/ca.pem" .host -}}
{{- $lines = append $lines (printf "  ca = %q" $ca) -}}
{{- $files = append $files (dict "path" $ca "owner" "root:root" "permissions" "0644" "content" .ca) -}}
{{- end -}}
{{- $files = append $files (dict
  "path" (printf "/etc/containerd/certs.d/%s/hosts.toml" .host)
  "owner" "root:root" "permissions" "0644"
  "content" (printf "%s\n" (join "\n" $lines))) -}}
{{- end -}}
{{- with (include "telco-cloud-init.proxyFileList" . | fromJson).files -}}
{{- $files = concat $files . -}}
{{- $commands = list "systemctl daemon-reload" "systemctl restart containerd" -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.cluster.bootstrap_format "ignition" -}}
{{- $ignition := include "telco-cloud-init.provider" (dict "root" . "template" "ignition" "context" .) | fromJson -}}
{{- /* Two empty lists would make null, which is another hash of the machines' templates. */ -}}
{{- with $ignition.files -}}{{- $files = concat $files . -}}{{- end -}}
{{- with $ignition.commands -}}{{- $commands = concat $commands . -}}{{- end -}}
{{- $fields = $ignition.fields | default dict -}}
{{- end -}}
{{- dict "files" $files "commands" $commands "fields" $fields | toJson -}}
{{- end -}}

{{/* See telco-cloud-init.proxyFiles. */}}
{{- define "telco-cloud-init.kubeadmProxyFiles" -}}
{{- $lines := list "[Service]" -}}
{{- range $name, $value := include "telco-cloud-init.proxyVariables" . | fromJson -}}
{{- $lines = append $lines (printf "Environment=\"%s=%s\"" $name ($value | replace "%" "%%")) -}}
{{- end -}}
{{- $files := dict -}}
{{- range list "containerd" "kubelet" -}}
{{- $_ := set $files (printf "/etc/systemd/system/%s.service.d/http-proxy.conf" .) (printf "%s\n" (join "\n" $lines)) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* A version, or a format of bootstrap data, that the providers cannot work with. */}}
{{- define "telco-cloud-init.checkBootstrap" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- $version := .Values.cluster.kubernetes_version -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- include "telco-cloud-init.checkRKE2" . -}}
{{- else if regexMatch "\\+rke2r[0-9]+$" $version -}}
{{- printf "values/invalid: cluster.kubernetes_version is %s, a release of RKE2, but cluster.bootstrap_provider is kubeadm\nhint: give it without its +rke2rN, or set cluster.bootstrap_provider to rke2\n" $version -}}
{{- end -}}
{{- if and (eq .Values.cluster.bootstrap_format "ignition") (ne .Values.cluster.bootstrap_provider "kubeadm") -}}
{{- $why := "" -}}
{{- with include "telco-cloud-init.provider" (dict "root" . "template" "ignitionRefused" "context" .) -}}{{- $why = printf " (%s)" . -}}{{- end -}}
{{- $others := list -}}
{{- range include "telco-cloud-init.providers" . | splitList " " -}}{{- $others = append $others (printf "kubeadm-%s" .) -}}{{- end -}}
{{- printf "values/invalid: cluster.bootstrap_format is ignition, which %s-%s cannot do%s\nhint: use cloud-config, or one of those that can: %s\n" .Values.cluster.bootstrap_provider .Values.cluster.infra_provider $why (join ", " $others) -}}
{{- end -}}
{{- end -}}
{{- end -}}
