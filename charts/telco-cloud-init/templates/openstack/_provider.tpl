{{/* OpenStack's part of the interface in _providers.tpl; check, patches and ignition are in files of their own. */}}
{{/* Machines, the API server and the service that tells a machine about itself, as far as they are known before. */}}
{{- define "telco-cloud-init.capo.noProxy" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- list (ternary "" $openstack.node_cidr (ne $openstack.network "")) $openstack.api_server.floating_ip $openstack.api_server.managed_floating_ip $openstack.api_server.fixed_ip "169.254.169.254" | join "," -}}
{{- end -}}

{{/* Variables of the manifests of component .name, {NAME: value} as JSON. */}}
{{- define "telco-cloud-init.capo.variables" -}}
{{- if include "telco-cloud-init.usesOpenStack" . -}}
{{- $variables := dict
  "OPENSTACK_CLUSTER" (include "telco-cloud-init.openstackCluster" .root)
  "OPENSTACK_CREDENTIALS_HASH" (include "telco-cloud-init.fingerprint" (dict "root" .root "text" (include "telco-cloud-init.openstackCredentials" .root)) | toJson)
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
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{- define "telco-cloud-init.capo.secret" -}}
{{- if include "telco-cloud-init.usesOpenStack" . -}}
{{- include "telco-cloud-init.called" (dict "root" .root "name" "telco-cloud-init-openstack-credentials") -}}
{{- end -}}
{{- end -}}

{{/* Nothing: what machines of OpenStack have is in a hash for each of their roles. */}}
{{- define "telco-cloud-init.capo.hashed" -}}{}{{- end -}}

{{- define "telco-cloud-init.capo.flavor" -}}
{{- $id := hasKey (include "telco-cloud-init.openstackParam" . | fromJson) "id" -}}
{{- dict "kind" "OpenStackMachineTemplate" "spec" (dict "flavorID" (ternary . nil $id) "flavor" (ternary nil . $id)) | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.capo.ignitionRefused" -}}{{- end -}}

{{- define "telco-cloud-init.capo.sysextRefused" -}}{{- end -}}

{{/* Nova takes 65535 bytes of base64 for all of the user data, in which the configuration is in base64 as well. */}}
{{- define "telco-cloud-init.capo.machineConfigLimit" -}}24576{{- end -}}

{{- define "telco-cloud-init.capo.kubeletArguments" -}}{{- end -}}

{{- define "telco-cloud-init.capo.settingsRefused" -}}{{- end -}}

{{- define "telco-cloud-init.capo.rke2Commands" -}}{}{{- end -}}

{{- define "telco-cloud-init.capo.warnings" -}}
{{- $cloud := include "telco-cloud-init.openstackCloud" . | fromJson -}}
{{- if and (hasKey $cloud "verify") (not $cloud.verify) -}}
{{- printf "clouds.yaml: the certificate of cloud %s is not verified (verify: false), here and in both clusters\n" .Values.cluster.openstack.cloud_name -}}
{{- end -}}
{{- $replicas := int .Values.cluster.control_plane.replicas -}}
{{- if and (eq .Values.cluster.openstack.api_server.mode "floating-ip") (gt $replicas 1) (include "telco-cloud-init.usesOpenStack" (dict "root" . "name" "cluster")) -}}
{{- printf "cluster.openstack.api_server.mode is floating-ip, with %d control-plane machines: if the machine with the address hangs, or one that still joins gets it, the API stays unreachable until you move the address. Use mode octavia or vip\n" $replicas -}}
{{- end -}}
{{- end -}}
