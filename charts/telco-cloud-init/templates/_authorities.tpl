{{/* {NAME: suffix of the Secret} as JSON: the authorities of cluster.certificate_authorities that the bootstrap provider has. */}}
{{- define "telco-cloud-init.authorities" -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- dict "kubernetes" "ca" "client" "cca" "etcd" "etcd" "etcd_peer" "peer-etcd" | toJson -}}
{{- else -}}
{{- dict "kubernetes" "ca" "etcd" "etcd" "front_proxy" "proxy" "service_account" "sa" | toJson -}}
{{- end -}}
{{- end -}}

{{/* Authorities that the bootstrap provider cannot use. */}}
{{- define "telco-cloud-init.checkAuthorities" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- $rke2 := eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- $known := include "telco-cloud-init.authorities" . | fromJson -}}
{{- $given := list -}}
{{- range $name, $pair := .Values.cluster.certificate_authorities -}}
{{- $public := ternary "public_key" "certificate" (eq $name "service_account") -}}
{{- $pair = $pair | default dict -}}
{{- if or (get $pair $public) $pair.private_key -}}
{{- $given = append $given $name -}}
{{- if not (and (get $pair $public) $pair.private_key) -}}
{{- printf "values/invalid: cluster.certificate_authorities.%s has only one of %s and private_key\nhint: Give both.\n" $name $public -}}
{{- end -}}
{{- if not (hasKey $known $name) -}}
{{- printf "values/invalid: cluster.certificate_authorities.%s is given, which %s does not have\nhint: Leave it out; it has %s.\n" $name $.Values.cluster.bootstrap_provider (keys $known | sortAlpha | join ", ") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $rke2 $given -}}
{{- range keys $known | sortAlpha -}}
{{- if not (has . $given) -}}
{{- printf "values/invalid: cluster.certificate_authorities.%s is not given, and RKE2's provider (v0.21.0) takes all or none\nhint: Give it too.\n" . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
