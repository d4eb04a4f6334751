{{/* A file for Flatcar, as JSON: a new release of the operating system comes with a new machine; none reboots by itself. */}}
{{- define "telco-cloud-init.flatcarUpdates" -}}
{{- dict "path" "/etc/flatcar/update.conf" "owner" "root:root" "permissions" "0644" "content" "SERVER=disabled\nREBOOT_STRATEGY=off\n" | toJson -}}
{{- end -}}

{{/* Commands that fill variables of the machine into what kubeadm reads, as a list in JSON. */}}
{{- define "telco-cloud-init.flatcarCommands" -}}
{{- list "(umask 077 && envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp)" "mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml" | toJson -}}
{{- end -}}
