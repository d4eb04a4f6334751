{{/* {patches: [...]} as JSON: how long a machine that is deleted waits for its Pods and for its volumes. Cluster API changes no machine for it. */}}
{{- define "telco-cloud-init.drainPatches" -}}
{{- $patches := list -}}
{{- with int .Values.cluster.drain_seconds -}}
{{- $deletion := dict "deletion" (dict "nodeDrainTimeoutSeconds" . "nodeVolumeDetachTimeoutSeconds" .) -}}
{{- $machine := dict "spec" $deletion -}}
{{- $kind := include "telco-cloud-init.controlPlaneKind" $ -}}
{{- if eq $kind "RKE2ControlPlane" -}}
{{- $limit := printf "%ds" . -}}
{{- $machine = dict "nodeDrainTimeout" $limit "nodeVolumeDetachTimeout" $limit -}}
{{- end -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" $kind)
  "operations" (dict "apiVersion" (include "telco-cloud-init.controlPlaneAPI" $) "kind" $kind "metadata" (dict "name" "any")
    "spec" (dict "machineTemplate" $machine))) | fromJson) -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" "MachineDeployment")
  "operations" (dict "apiVersion" "cluster.x-k8s.io/v1beta2" "kind" "MachineDeployment" "metadata" (dict "name" "any")
    "spec" (dict "template" (dict "spec" $deletion)))) | fromJson) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}
