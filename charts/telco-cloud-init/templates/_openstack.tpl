{{/* "true" for a component .name that works with OpenStack's credentials, otherwise empty. */}}
{{- define "telco-cloud-init.usesOpenStack" -}}
{{- if and (eq .root.Values.cluster.infra_provider "capo") (has .name (list "cluster" "cloud-provider" "cinder-csi")) -}}
{{- include "telco-cloud-init.enabled" . -}}
{{- end -}}
{{- end -}}

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
{{- if and (eq $openstack.api_server.mode "fixed-ip") (not $workers) -}}
{{- /* Neutron drops packets with an address that is not the port's own. */ -}}
{{- $_ := set $spec "ports" (list (dict "allowedAddressPairs" (list (dict "ipAddress" $openstack.api_server.fixed_ip)))) -}}
{{- end -}}
{{- toJson $spec -}}
{{- end -}}

{{/* Hash of all that is in the templates of machines of .role: other workers do not replace the control plane. */}}
{{- define "telco-cloud-init.openstackHash" -}}
{{- list (include "telco-cloud-init.templateHash" .root) (include "telco-cloud-init.openstackMachine" .) | toJson | sha256sum | trunc 8 -}}
{{- end -}}

{{/* Variables of the manifests of component .name, {NAME: value} as JSON. */}}
{{- define "telco-cloud-init.openstackVariables" -}}
{{- $variables := dict
  "OPENSTACK_CLUSTER" (include "telco-cloud-init.openstackCluster" .root)
  "OPENSTACK_CREDENTIALS_HASH" (include "telco-cloud-init.openstackCredentials" .root | sha256sum | trunc 8 | toJson)
-}}
{{- if eq .name "cluster" -}}
{{- $ignition := eq .root.Values.cluster.bootstrap_format "ignition" -}}
{{- $variables = merge $variables (dict
  "CONTROL_PLANE_TEMPLATE_HASH" (include "telco-cloud-init.openstackHash" (dict "root" .root "role" "control-plane"))
  "WORKER_TEMPLATE_HASH" (include "telco-cloud-init.openstackHash" (dict "root" .root "role" "workers"))
  "NODE_NAME" (ternary "${COREOS_OPENSTACK_HOSTNAME}" "{{ local_hostname }}" $ignition | toJson)
  "NODE_PROVIDER_ID" (printf "openstack:///%s" (ternary "${COREOS_OPENSTACK_INSTANCE_UUID}" "{{ instance_id }}" $ignition) | toJson)
) -}}
{{- end -}}
{{- toJson $variables -}}
{{- end -}}

{{/* The secret variables, {NAME: value} as JSON. Each value is JSON itself: see telco-cloud-init.awsMachine. */}}
{{- define "telco-cloud-init.openstackCredentials" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- dict
  "OPENSTACK_CLOUD" (toJson $openstack.cloud_name)
  "OPENSTACK_CLOUD_YAML_B64" (toJson $openstack.clouds_yaml_b64)
  "OPENSTACK_CLOUD_CACERT_B64" (toJson $openstack.cacert_b64)
  "OPENSTACK_CLOUD_CONF_B64" (include "telco-cloud-init.openstackCloudConf" . | b64enc | toJson)
| toJson -}}
{{- end -}}

{{/* cloud.conf of the cloud controller manager and of the CSI driver, which find the two files beside it. */}}
{{- define "telco-cloud-init.openstackCloudConf" -}}
{{- $cloud := include "telco-cloud-init.openstackCloud" . | fromJson -}}
[Global]
use-clouds = true
clouds-file = /etc/openstack/clouds.yaml
cloud = {{ .Values.cluster.openstack.cloud_name | quote }}
{{- if .Values.cluster.openstack.cacert_b64 }}
ca-file = /etc/openstack/cacert
{{- end }}
{{- /* They do not look for it in clouds.yaml. */}}
{{- if and (hasKey $cloud "verify") (not $cloud.verify) }}
tls-insecure = true
{{- end }}

[LoadBalancer]
enabled = {{ .Values.cluster.openstack.load_balancers }}
{{ end -}}

{{/* The entry of clouds.yaml as JSON; {} when there is none. */}}
{{- define "telco-cloud-init.openstackCloud" -}}
{{- $clouds := (.Values.cluster.openstack.clouds_yaml_b64 | b64dec | fromYaml).clouds -}}
{{- $cloud := dict -}}
{{- if kindIs "map" $clouds -}}{{- $cloud = get $clouds .Values.cluster.openstack.cloud_name | default dict -}}{{- end -}}
{{- if kindIs "map" $cloud -}}{{- toJson $cloud -}}{{- else -}}{}{{- end -}}
{{- end -}}
