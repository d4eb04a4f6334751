{{/* Flatcar on OpenStack is set up by Ignition. */}}
{{- define "telco-cloud-init.capo.ignition" -}}
{{- $updates := include "telco-cloud-init.flatcarUpdates" . | fromJson -}}
{{- /* The cloud appends a domain to the name, and Nodes are called without. */ -}}
{{- $commands := concat (list
  "export COREOS_OPENSTACK_HOSTNAME=${COREOS_OPENSTACK_HOSTNAME%%.*}"
  "export COREOS_OPENSTACK_INSTANCE_UUID")
  (include "telco-cloud-init.flatcarCommands" . | fromJsonArray) -}}
{{- /* coreos-metadata writes what the cloud says of this machine. containerd is only waited for: if it were required,
     restarting it before kubeadm runs would end kubeadm as well. */ -}}
{{- $unit := dict "name" "kubeadm.service" "enabled" true "dropins" (list (dict "name" "10-flatcar.conf"
  "contents" "[Unit]\nRequires=coreos-metadata.service\nAfter=coreos-metadata.service containerd.service\n[Service]\nEnvironmentFile=/run/metadata/flatcar\n")) -}}
{{- $config := dict "systemd" (dict "units" (list $unit)) | toYaml -}}
{{- $ignition := dict "containerLinuxConfig" (dict "strict" true "additionalConfig" (printf "%s\n" $config)) -}}
{{- dict "files" (list $updates) "commands" $commands "fields" (dict "format" "ignition" "ignition" $ignition) | toJson -}}
{{- end -}}
