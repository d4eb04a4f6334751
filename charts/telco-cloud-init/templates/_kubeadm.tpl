{{/* What kubeadm's machines need, see telco-cloud-init.machineFiles: registry mirrors and proxies for containerd, and the
     format. */}}
{{- define "telco-cloud-init.kubeadmMachine" -}}
{{- $files := list -}}
{{- $commands := list -}}
{{- $fields := dict -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- /* containerd falls back to the server, which is the original registry unless another one is named. */ -}}
{{- $lines := list (printf (ternary "server = %q" "[host.%q]" (default false .only)) .url) "  capabilities = [\"pull\", \"resolve\"]" -}}
{{- if .override_path -}}{{- $lines = append $lines "  override_path = true" -}}{{- end -}}
{{- if .skip_verify -}}{{- $lines = append $lines "  skip_verify = true" -}}{{- end -}}
{{- $files = append $files (dict
  "path" (printf "/etc/containerd/certs.d/%s/hosts.toml" .host)
  "owner" "root:root" "permissions" "0644"
  "content" (printf "%s\n" (join "\n" $lines))) -}}
{{- end -}}
{{- with include "telco-cloud-init.proxyVariables" . -}}
{{- $lines := list "[Service]" -}}
{{- range $name, $value := fromJson . -}}
{{- $lines = append $lines (printf "Environment=\"%s=%s\"" $name ($value | replace "%" "%%")) -}}
{{- end -}}
{{- range list "containerd" "kubelet" -}}
{{- $files = append $files (dict
  "path" (printf "/etc/systemd/system/%s.service.d/http-proxy.conf" .)
  "owner" "root:root" "permissions" "0600"
  "content" (printf "%s\n" (join "\n" $lines))) -}}
{{- end -}}
{{- $commands = list "systemctl daemon-reload" "systemctl restart containerd" -}}
{{- end -}}
{{- if eq .Values.cluster.bootstrap_format "ignition" -}}
{{- /* Where the definition leaves it open: that of kubeadm-capa is Ignition always. */ -}}
{{- if eq .Values.cluster.infra_provider "capd" -}}
{{- $fields = dict "format" "ignition" "ignition" (dict "containerLinuxConfig" (dict "strict" true)) -}}
{{- else if eq .Values.cluster.infra_provider "capo" -}}
{{- $flatcar := include "telco-cloud-init.flatcarMachine" . | fromJson -}}
{{- $files = concat $files $flatcar.files -}}
{{- $commands = concat $commands $flatcar.commands -}}
{{- $fields = $flatcar.fields -}}
{{- end -}}
{{- end -}}
{{- dict "files" $files "commands" $commands "fields" $fields | toJson -}}
{{- end -}}

{{/* The same for Flatcar on OpenStack, which is set up by Ignition. */}}
{{- define "telco-cloud-init.flatcarMachine" -}}
{{- /* A new release of the operating system comes with a new machine; none reboots by itself. */ -}}
{{- $updates := dict "path" "/etc/flatcar/update.conf" "owner" "root:root" "permissions" "0644" "content" "SERVER=disabled\nREBOOT_STRATEGY=off\n" -}}
{{- /* The cloud appends a domain to the name, and Nodes are called without. */ -}}
{{- $commands := list
  "export COREOS_OPENSTACK_HOSTNAME=${COREOS_OPENSTACK_HOSTNAME%%.*}"
  "export COREOS_OPENSTACK_INSTANCE_UUID"
  "(umask 077 && envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp)"
  "mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml"
-}}
{{- /* coreos-metadata writes what the cloud says of this machine. containerd is only waited for: if it were required,
     restarting it before kubeadm runs would end kubeadm as well. */ -}}
{{- $unit := dict "name" "kubeadm.service" "enabled" true "dropins" (list (dict "name" "10-flatcar.conf"
  "contents" "[Unit]\nRequires=coreos-metadata.service\nAfter=coreos-metadata.service containerd.service\n[Service]\nEnvironmentFile=/run/metadata/flatcar\n")) -}}
{{- $config := dict "systemd" (dict "units" (list $unit)) | toYaml -}}
{{- $ignition := dict "containerLinuxConfig" (dict "strict" true "additionalConfig" (printf "%s\n" $config)) -}}
{{- dict "files" (list $updates) "commands" $commands "fields" (dict "format" "ignition" "ignition" $ignition) | toJson -}}
{{- end -}}

{{/* A version, or a format of bootstrap data, that the providers cannot work with. */}}
{{- define "telco-cloud-init.checkBootstrap" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- $version := .Values.cluster.kubernetes_version -}}
{{- $providers := printf "%s-%s" .Values.cluster.bootstrap_provider .Values.cluster.infra_provider -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- include "telco-cloud-init.checkRKE2" . -}}
{{- else if regexMatch "\\+rke2r[0-9]+$" $version -}}
{{- printf "values/invalid: cluster.kubernetes_version is %s, a release of RKE2, but cluster.bootstrap_provider is kubeadm\nhint: give it without its +rke2rN, or use rke2-capd\n" $version -}}
{{- end -}}
{{- $ignition := list "kubeadm-capa" "kubeadm-capd" "kubeadm-capo" -}}
{{- if and (eq .Values.cluster.bootstrap_format "ignition") (not (has $providers $ignition)) -}}
{{- $why := "" -}}
{{- if eq $providers "rke2-capd" -}}{{- $why = " (RKE2's provider writes Ignition 3 for SELinux, docker's reads Ignition 2.3)" -}}{{- end -}}
{{- printf "values/invalid: cluster.bootstrap_format is ignition, which %s cannot do%s\nhint: use cloud-config, or one of those that can: %s\n" $providers $why (join ", " $ignition) -}}
{{- end -}}
{{- end -}}
{{- end -}}
