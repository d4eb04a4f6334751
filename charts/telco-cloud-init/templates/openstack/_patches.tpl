{{/* {patches: [...]} as JSON, that put what only some clusters have on the definition of one on OpenStack. */}}
{{- define "telco-cloud-init.capo.patches" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- $cluster := (include "telco-cloud-init.openstackClusterPatch" . | fromJson).operations -}}
{{- $patches := list (include "telco-cloud-init.patch" (dict "target" (dict "kind" "OpenStackCluster") "operations" $cluster) | fromJson) -}}
{{- range $role, $policy := dict "control-plane" $openstack.server_groups.control_plane "workers" $openstack.server_groups.worker -}}
{{- $name := printf ".*-%s" $role -}}
{{- $machine := include "telco-cloud-init.openstackMachine" (dict "root" $ "role" $role) | fromJson -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" (dict "kind" "OpenStackMachineTemplate" "name" (printf "%s-.*" $name))
  "operations" (list (dict "op" "replace" "path" "/spec/template/spec" "value" $machine))) | fromJson) -}}
{{- $target := dict "kind" "ServerGroup" "name" $name -}}
{{- if $policy -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" $target
  "operations" (list (dict "op" "replace" "path" "/spec/resource/policy" "value" $policy))) | fromJson) -}}
{{- else -}}
{{- /* Its one dollar sign is for kustomize, which comes before Flux's variables. */ -}}
{{- $patches = append $patches (dict "target" $target
  "patch" (dict "$patch" "delete" "apiVersion" "openstack.k-orc.cloud/v1alpha1" "kind" "ServerGroup" "metadata" (dict "name" "any") | toYaml)) -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.cluster.bootstrap_provider "kubeadm") (include "telco-cloud-init.capo.addressLeaves" .) -}}
{{- /* None may be replaced because of a date. */ -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" "KubeadmControlPlane")
  "operations" (dict "apiVersion" "controlplane.cluster.x-k8s.io/v1beta2" "kind" "KubeadmControlPlane" "metadata" (dict "name" "any") "spec" (dict "rollout" nil))) | fromJson) -}}
{{- end -}}
{{- with $openstack.worker_availability_zone -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" "MachineDeployment")
  "operations" (list (dict "op" "add" "path" "/spec/template/spec/failureDomain" "value" .))) | fromJson) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{/* {operations: [...]} as JSON: those of the OpenStackCluster. */}}
{{- define "telco-cloud-init.openstackClusterPatch" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- $api := $openstack.api_server -}}
{{- $rke2 := eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- /* Machines of RKE2 register at a port of their own; through the endpoint they come from another address than theirs. */ -}}
{{- $endpoint := and $rke2 (eq .Values.cluster.rke2.registration_method "control-plane-endpoint") -}}
{{- $spec := dict -}}
{{- if $openstack.external_network -}}
{{- $_ := set $spec "externalNetwork" (include "telco-cloud-init.openstackParam" $openstack.external_network | fromJson) -}}
{{- else -}}
{{- $_ := set $spec "disableExternalNetwork" true -}}
{{- end -}}
{{- if $openstack.network -}}
{{- $_ := set $spec "network" (include "telco-cloud-init.openstackParam" $openstack.network | fromJson) -}}
{{- with $openstack.subnet -}}{{- $_ := set $spec "subnets" (list (include "telco-cloud-init.openstackParam" . | fromJson)) -}}{{- end -}}
{{- else -}}
{{- $subnet := dict "cidr" $openstack.node_cidr -}}
{{- with include "telco-cloud-init.openstackNameservers" . -}}{{- $_ := set $subnet "dnsNameservers" (splitList "," .) -}}{{- end -}}
{{- $_ := set $spec "managedSubnets" (list $subnet) -}}
{{- end -}}
{{- with $openstack.router -}}{{- $_ := set $spec "router" (include "telco-cloud-init.openstackParam" . | fromJson) -}}{{- end -}}
{{- if has $api.mode (list "fixed-ip" "vip") -}}
{{- $_ := set $spec "disableAPIServerFloatingIP" true -}}
{{- $_ := set $spec "apiServerFixedIP" $api.fixed_ip -}}
{{- else -}}
{{- with include "telco-cloud-init.openstackFloatingIP" . -}}{{- $_ := set $spec "apiServerFloatingIP" . -}}{{- end -}}
{{- end -}}
{{- if eq $api.mode "octavia" -}}
{{- $balancer := dict "enabled" true -}}
{{- if $endpoint -}}{{- $_ := set $balancer "additionalPorts" (list 9345) -}}{{- end -}}
{{- with $api.allowed_cidrs -}}{{- $_ := set $balancer "allowedCIDRs" . -}}{{- end -}}
{{- $_ := set $spec "apiServerLoadBalancer" $balancer -}}
{{- end -}}
{{- with $openstack.control_plane_availability_zones -}}{{- $_ := set $spec "controlPlaneAvailabilityZones" . -}}{{- end -}}
{{- $groups := dict "allowAllInClusterTraffic" $openstack.security_groups.allow_all_in_cluster_traffic -}}
{{- with $openstack.security_groups.rules -}}{{- $_ := set $groups "allNodesSecurityGroupRules" . -}}{{- end -}}
{{- if $rke2 -}}
{{- $rule := dict "name" "RKE2 registration" "description" "RKE2 registration" "direction" "ingress" "etherType" "IPv4" "protocol" "tcp" "portRangeMin" 9345 "portRangeMax" 9345 -}}
{{- if not $endpoint -}}{{- $_ := set $rule "remoteManagedGroups" (list "controlplane" "worker") -}}{{- end -}}
{{- $_ := set $groups "controlPlaneNodesSecurityGroupRules" (list $rule) -}}
{{- else if and (eq $api.mode "vip") (not $openstack.security_groups.allow_all_in_cluster_traffic) -}}
{{- $rule := dict "name" "VRRP" "description" "VRRP" "direction" "ingress" "etherType" "IPv4" "protocol" "112" "remoteManagedGroups" (list "controlplane") -}}
{{- $_ := set $groups "controlPlaneNodesSecurityGroupRules" (list $rule) -}}
{{- end -}}
{{- $_ := set $spec "managedSecurityGroups" $groups -}}
{{- $operations := list -}}
{{- range $field, $value := $spec -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "/spec/%s" $field) "value" $value) -}}
{{- end -}}
{{- dict "operations" $operations | toJson -}}
{{- end -}}

{{/* The floating IP of the API server that outlives every machine: the user's, or the one that cluster-init made. */}}
{{- define "telco-cloud-init.openstackFloatingIP" -}}
{{- $api := .Values.cluster.openstack.api_server -}}
{{- $api.floating_ip | default $api.managed_floating_ip -}}
{{- end -}}

{{/* Without a floating IP in the values only the provider can have made it, and it deletes that with its machine. */}}
{{- define "telco-cloud-init.capo.addressLeaves" -}}
{{- if and (eq .Values.cluster.openstack.api_server.mode "floating-ip") (not (include "telco-cloud-init.openstackFloatingIP" .)) -}}true{{- end -}}
{{- end -}}

{{/* Whether the address of the API server is what the values of OpenStack say; empty means that they mean nothing. */}}
{{- define "telco-cloud-init.keepsAddress" -}}
{{- include "telco-cloud-init.usesOpenStack" (dict "root" . "name" "cluster") -}}
{{- end -}}

{{/* Whether cluster-init makes the floating IP of the API server, or reserves its virtual address; empty means neither. */}}
{{- define "telco-cloud-init.managesAddress" -}}
{{- $api := .Values.cluster.openstack.api_server -}}
{{- if or (eq $api.mode "vip") (and (eq $api.mode "floating-ip") (not $api.floating_ip)) -}}
{{- include "telco-cloud-init.usesOpenStack" (dict "root" . "name" "cluster") -}}
{{- end -}}
{{- end -}}

{{/* The name servers, with commas between them. */}}
{{- define "telco-cloud-init.openstackNameservers" -}}
{{- $servers := list -}}
{{- range .Values.cluster.openstack.dns_nameservers -}}
{{- range splitList "," . -}}{{- $servers = append $servers (trim .) -}}{{- end -}}
{{- end -}}
{{- $servers | compact | join "," -}}
{{- end -}}
