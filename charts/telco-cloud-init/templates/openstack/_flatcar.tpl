{{/* Flatcar on OpenStack is set up by Ignition. */}}
{{- define "telco-cloud-init.capo.ignition" -}}
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
