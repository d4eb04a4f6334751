{{/* kubeConfig of the workload cluster that component .name is applied to, as JSON; {} in other phases, and for what is in the
     management cluster: the cluster's definition and its health checks. */}}
{{- define "telco-cloud-init.kubeConfig" -}}
{{- if and (eq .root.Values.phase "workload") (not (has .name (list "cluster" "health-checks"))) -}}
{{- dict "secretRef" (dict "name" (printf "%s-kubeconfig" .root.Values.cluster.name) "key" "value") | toJson -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* Components of a workload cluster that another cluster would get, and names that no label holds. */}}
{{- define "telco-cloud-init.checkInside" -}}
{{- if ne .Values.phase "workload" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "flux") -}}
{{- printf "values/invalid: components.flux.enabled is %v, and it is for workload clusters: cluster-init installs Flux in this cluster itself\nhint: set it to workload-only\n" .Values.components.flux.enabled -}}
{{- end -}}
{{- else -}}
{{- range $name, $_ := .Values.components -}}
{{- $args := dict "root" $ "name" $name -}}
{{- if and (include "telco-cloud-init.enabled" $args) (gt (len (include "telco-cloud-init.called" $args)) 63) -}}
{{- printf "values/invalid: components has %q, which has more than 63 characters with the cluster's name before it\nhint: give the component or the cluster a shorter name\n" $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
