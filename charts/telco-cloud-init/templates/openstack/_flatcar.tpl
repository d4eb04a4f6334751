{{/* Flatcar on OpenStack is set up by Ignition. */}}
{{- define "telco-cloud-init.capo.ignition" -}}
{{- $updates := include "telco-cloud-init.flatcarUpdates" . | fromJson -}}
{{- /* The cloud appends a domain to the name, and Nodes are called without. */ -}}
{{- $commands := concat (list
  "export COREOS_OPENSTACK_HOSTNAME=${COREOS_OPENSTACK_HOSTNAME%%.*}"
  "export COREOS_OPENSTACK_INSTANCE_UUID")
  (include "telco-cloud-init.flatcarCommands" . | fromJsonArray) -}}
{{- dict "files" (list $updates) "commands" $commands "fields" (include "telco-cloud-init.flatcarFields" . | fromJson) | toJson -}}
{{- end -}}
