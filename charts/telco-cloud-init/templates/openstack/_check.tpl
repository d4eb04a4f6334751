{{/* What OpenStack needs and is missing, or does not fit together. */}}
{{- define "telco-cloud-init.capo.check" -}}
{{- $needed := "" -}}
{{- range list "cluster" "cloud-provider" "cinder-csi" -}}
{{- if include "telco-cloud-init.usesOpenStack" (dict "root" $ "name" .) -}}{{- $needed = . -}}{{- end -}}
{{- end -}}
{{- if $needed -}}{{- include "telco-cloud-init.checkOpenStackCredentials" (dict "root" . "component" $needed) -}}{{- end -}}
{{- if include "telco-cloud-init.usesOpenStack" (dict "root" . "name" "cluster") -}}{{- include "telco-cloud-init.checkOpenStackCluster" . -}}{{- end -}}
{{- end -}}

{{/* The messages must not hold the values. */}}
{{- define "telco-cloud-init.checkOpenStackCredentials" -}}
{{- $openstack := .root.Values.cluster.openstack -}}
{{- $base64 := "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" -}}
{{- $missing := ternary "cloud_name" "clouds_yaml_b64" (ne $openstack.clouds_yaml_b64 "") -}}
{{- $given := and $openstack.clouds_yaml_b64 $openstack.cloud_name -}}
{{- if not $given -}}
{{- printf "values/invalid: cluster.openstack.%s is empty, and the component %s is enabled\nhint: set OS_CLOUD to an entry of your clouds.yaml, source your openrc file, or set OPENSTACK_CLOUD_YAML_B64 and OPENSTACK_CLOUD\n" $missing .component -}}
{{- end -}}
{{- range $key := list "clouds_yaml_b64" "cacert_b64" -}}
{{- if not (regexMatch $base64 (get $openstack $key)) -}}
{{- printf "values/invalid: cluster.openstack.%s is not base64 on one line\nhint: `base64 -w0 FILE` prints it\n" $key -}}
{{- end -}}
{{- end -}}
{{- $cloud := include "telco-cloud-init.openstackCloud" .root | fromJson -}}
{{- if and $given (not $cloud) -}}
{{- printf "values/invalid: cluster.openstack.clouds_yaml_b64 is not a clouds.yaml with the entry %s\nhint: it must hold clouds.%s.auth; cluster.openstack.cloud_name names the entry\n" $openstack.cloud_name $openstack.cloud_name -}}
{{- end -}}
{{- if and $openstack.cacert_b64 (not (contains "-----BEGIN CERTIFICATE-----" (b64dec $openstack.cacert_b64))) -}}
{{- "values/invalid: cluster.openstack.cacert_b64 holds no certificate\nhint: it is a file of PEM certificates in base64\n" -}}
{{- end -}}
{{- end -}}

{{- define "telco-cloud-init.checkOpenStackCluster" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- $api := $openstack.api_server -}}
{{- $variables := dict "image" "OPENSTACK_IMAGE_NAME" "control_plane_flavor" "OPENSTACK_CONTROL_PLANE_MACHINE_FLAVOR" "worker_flavor" "OPENSTACK_NODE_MACHINE_FLAVOR" -}}
{{- range $key := list "image" "control_plane_flavor" "worker_flavor" -}}
{{- if not (get $openstack $key) -}}
{{- printf "values/invalid: cluster.openstack.%s is empty\nhint: set %s, or cluster.openstack.%s, to an id or a name of your cloud: `openstack %s list` prints them\n" $key (get $variables $key) $key (splitList "_" $key | last) -}}
{{- end -}}
{{- end -}}
{{- $inside := has $api.mode (list "fixed-ip" "vip") -}}
{{- if and (not $openstack.external_network) (not $inside) -}}
{{- printf "values/invalid: cluster.openstack.external_network is empty, but api_server.mode is %s\nhint: set OPENSTACK_EXTERNAL_NETWORK to an id or a name that `openstack network list --external` prints, or use mode fixed-ip\n" $api.mode -}}
{{- end -}}
{{- if and $inside (not $api.fixed_ip) -}}
{{- $address := ternary "a free address of the machines' subnet" "the address in the machines' network that you have something answer at, for example a load balancer of your own" (eq $api.mode "vip") -}}
{{- printf "values/invalid: cluster.openstack.api_server.mode is %s, but fixed_ip is empty\nhint: give %s\n" $api.mode $address -}}
{{- end -}}
{{- if eq $api.mode "vip" -}}{{- include "telco-cloud-init.checkVirtualAddress" . -}}{{- end -}}
{{- if and $openstack.network (include "telco-cloud-init.openstackNameservers" .) -}}
{{- "values/invalid: cluster.openstack.dns_nameservers are given, but network is too: a subnet that is there already has its own\nhint: leave one of them empty\n" -}}
{{- end -}}
{{- /* Nova's tags have 60 characters at most. */ -}}
{{- $cluster := include "telco-cloud-init.openstackCluster" . -}}
{{- if gt (len $cluster) 39 -}}
{{- printf "values/invalid: cluster.namespace and cluster.name make %s, which has %d characters: OpenStack's tags leave 39\nhint: choose a shorter name\n" $cluster (len $cluster) -}}
{{- end -}}
{{- end -}}
