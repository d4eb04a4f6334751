{{/* "true" where the provider for docker runs, which alone needs the engine's socket; otherwise empty. */}}
{{- define "telco-cloud-init.needsDockerSocket" -}}
{{- include "telco-cloud-init.enabled" (dict "root" . "name" "capd") -}}
{{- end -}}

{{/* What the machines' mount of the engine's socket is: the path part of a unix:// DOCKER_HOST, unless the socket is given. The machines of a
     workload cluster run no provider, and get an empty device in its place. */}}
{{- define "telco-cloud-init.dockerSocket" -}}
{{- $fromHost := "" -}}
{{- if hasPrefix "unix://" .Values.cluster.docker_host -}}
{{- $fromHost = trimPrefix "unix://" .Values.cluster.docker_host -}}
{{- end -}}
{{- ternary "/dev/null" (coalesce .Values.cluster.docker_socket $fromHost "/var/run/docker.sock") (eq .Values.phase "workload") -}}
{{- end -}}
