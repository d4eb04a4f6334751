{{/* "true" for a component .name that works with OpenStack's credentials, otherwise empty. */}}
{{- define "telco-cloud-init.usesOpenStack" -}}
{{- if and (eq .root.Values.cluster.infra_provider "capo") (has .name (list "cluster" "cloud-provider" "cinder-csi")) -}}
{{- include "telco-cloud-init.enabled" . -}}
{{- end -}}
{{- end -}}

{{/* The secret variables, {NAME: value} as JSON. Each value is JSON itself: it is substituted into manifests, as text. */}}
{{- define "telco-cloud-init.openstackCredentials" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- dict
  "OPENSTACK_CLOUD" (toJson $openstack.cloud_name)
  "OPENSTACK_CLOUD_YAML_B64" (toJson $openstack.clouds_yaml_b64)
  "OPENSTACK_CLOUD_CACERT_B64" (toJson $openstack.cacert_b64)
  "OPENSTACK_CLOUD_CONF_B64" (include "telco-cloud-init.openstackCloudConf" . | b64enc | toJson)
| toJson -}}
{{- end -}}

{{/* cloud.conf of the cloud controller manager and of the CSI driver, which find the two files next to it. */}}
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
