{{/* A file for Flatcar, as JSON: a new release of the operating system comes with a new machine; none reboots by itself. */}}
{{- define "telco-cloud-init.flatcarUpdates" -}}
{{- dict "path" "/etc/flatcar/update.conf" "owner" "root:root" "permissions" "0644" "content" "SERVER=disabled\nREBOOT_STRATEGY=off\n" | toJson -}}
{{- end -}}

{{/* Commands that fill variables of the machine into what kubeadm reads, as a list in JSON. */}}
{{- define "telco-cloud-init.flatcarCommands" -}}
{{- list "(umask 077 && envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp)" "mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml" | toJson -}}
{{- end -}}

{{/* Fields of machines of a cloud, as JSON: what Ignition makes besides kubeadm's files. */}}
{{- define "telco-cloud-init.flatcarFields" -}}
{{- /* coreos-metadata writes what the cloud says of this machine. containerd is only waited for: if it were required,
     restarting it before kubeadm runs would end kubeadm as well. */ -}}
{{- $lines := list "[Unit]" "Requires=coreos-metadata.service" "After=coreos-metadata.service containerd.service"
  "[Service]" "EnvironmentFile=/run/metadata/flatcar" "" -}}
{{- $dropin := dict "name" "10-flatcar.conf" "contents" (join "\n" $lines) -}}
{{- $unit := dict "name" "kubeadm.service" "enabled" true "dropins" (list $dropin) -}}
{{- $config := dict "systemd" (dict "units" (list $unit)) -}}
{{- with include "telco-cloud-init.sysextStorage" . | fromJson -}}{{- $_ := set $config "storage" . -}}{{- end -}}
{{- $ignition := dict "containerLinuxConfig" (dict "strict" true "additionalConfig" (printf "%s\n" (toYaml $config))) -}}
{{- dict "format" "ignition" "ignition" $ignition | toJson -}}
{{- end -}}

{{/* The system extension that has Kubernetes as `storage` of a Container Linux Config, as JSON; {} without one. The link lets systemd find it. */}}
{{- define "telco-cloud-init.sysextStorage" -}}
{{- $storage := dict -}}
{{- with include "telco-cloud-init.kubernetesSysext" . | fromJson -}}
{{- $place := printf "/opt/extensions/kubernetes/kubernetes-%s.raw" .version -}}
{{- $remote := dict "url" .url "verification" (dict "hash" (dict "function" "sha512" "sum" .sha512)) -}}
{{- $storage = dict
  "files" (list (dict "path" $place "filesystem" "root" "mode" 0644 "contents" (dict "remote" $remote)))
  "links" (list (dict "path" "/etc/extensions/kubernetes.raw" "filesystem" "root" "target" $place "hard" false)) -}}
{{- end -}}
{{- toJson $storage -}}
{{- end -}}
