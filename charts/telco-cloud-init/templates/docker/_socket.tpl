{{/* "true" where the provider for docker runs, which alone needs the engine's socket; otherwise empty. */}}
{{- define "telco-cloud-init.needsDockerSocket" -}}
{{- include "telco-cloud-init.enabled" (dict "root" . "name" "capd") -}}
{{- end -}}

{{/* The path part of a unix:// DOCKER_HOST, unless the socket is given. */}}
{{- define "telco-cloud-init.dockerSocket" -}}
{{- $fromHost := "" -}}
{{- if hasPrefix "unix://" .Values.cluster.docker_host -}}
{{- $fromHost = trimPrefix "unix://" .Values.cluster.docker_host -}}
{{- end -}}
{{- coalesce .Values.cluster.docker_socket $fromHost "/var/run/docker.sock" -}}
{{- end -}}
