{{/* What the provider calls the cluster: it is in the names of all that it makes. */}}
{{- define "telco-cloud-init.openstackCluster" -}}
{{- printf "%s-%s" .Values.cluster.namespace .Values.cluster.name -}}
{{- end -}}

{{/* {id} or {filter: {name}} as JSON, for a value that is one or the other. */}}
{{- define "telco-cloud-init.openstackParam" -}}
{{- if regexMatch "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$" . -}}
{{- dict "id" . | toJson -}}
{{- else -}}
{{- dict "filter" (dict "name" .) | toJson -}}
{{- end -}}
{{- end -}}

{{/* The spec of machines of .role (control-plane or workers) as JSON. */}}
{{- define "telco-cloud-init.openstackMachine" -}}
{{- $openstack := .root.Values.cluster.openstack -}}
{{- $workers := eq .role "workers" -}}
{{- $spec := dict "image" (include "telco-cloud-init.openstackParam" $openstack.image | fromJson) -}}
{{- $flavor := ternary $openstack.worker_flavor $openstack.control_plane_flavor $workers -}}
{{- $_ := set $spec (ternary "flavorID" "flavor" (hasKey (include "telco-cloud-init.openstackParam" $flavor | fromJson) "id")) $flavor -}}
{{- with $openstack.ssh_key_name -}}{{- $_ := set $spec "sshKeyName" . -}}{{- end -}}
{{- with $openstack.root_volume -}}
{{- if .size -}}
{{- $volume := dict "sizeGiB" (int .size) -}}
{{- with .type -}}{{- $_ := set $volume "type" . -}}{{- end -}}
{{- with .availability_zone -}}{{- $_ := set $volume "availabilityZone" (dict "name" .) -}}{{- end -}}
{{- $_ := set $spec "rootVolume" $volume -}}
{{- end -}}
{{- end -}}
{{- if ternary $openstack.server_groups.worker $openstack.server_groups.control_plane $workers -}}
{{- $_ := set $spec "serverGroup" (dict "filter" (dict "name" (printf "%s-%s" (include "telco-cloud-init.openstackCluster" .root) .role))) -}}
{{- end -}}
{{- if and (has $openstack.api_server.mode (list "fixed-ip" "vip")) (not $workers) -}}
{{- /* Neutron drops packets with an address that is not the port's own. */ -}}
{{- $_ := set $spec "ports" (list (dict "allowedAddressPairs" (list (dict "ipAddress" $openstack.api_server.fixed_ip)))) -}}
{{- end -}}
{{- toJson $spec -}}
{{- end -}}

{{/* Hash of all that is in the templates of machines of .role: other workers do not replace the control plane. */}}
{{- define "telco-cloud-init.openstackHash" -}}
{{- list (include "telco-cloud-init.templateHash" .root) (include "telco-cloud-init.openstackMachine" .) | toJson | sha256sum | trunc 8 -}}
{{- end -}}
