{{/* Docker's part of the interface in _providers.tpl. */}}
{{- define "telco-cloud-init.capd.check" -}}
{{- with .Values.components.capd -}}
{{- with .substitute -}}
{{- $text := toString (.CAPD_DOCKER_HOST | default "") -}}
{{- /* The provider's manifest holds it without quotes. What a template becomes is known only when it is filled in. */ -}}
{{- if not (or (contains "{{" $text) (regexMatch "^$|^(unix|tcp|ssh|npipe)://[!-~]*[A-Za-z0-9/]$" $text)) -}}
{{- "values/invalid: components.capd.substitute.CAPD_DOCKER_HOST is not the address of a Docker engine\nhint: write it as tcp://192.0.2.7:2375\n" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The ranges that Docker takes networks from: machines and the API server are in one of them. */}}
{{- define "telco-cloud-init.capd.noProxy" -}}
{{- list "172.16.0.0/12" "192.168.0.0/16" "fc00::/7" | join "," -}}
{{- end -}}

{{- define "telco-cloud-init.capd.variables" -}}{}{{- end -}}

{{- define "telco-cloud-init.capd.secret" -}}{{- end -}}

{{/* Machines that install Kubernetes need longer than the provider's 5 minutes. */}}
{{- define "telco-cloud-init.capd.patches" -}}
{{- $patches := list -}}
{{- if eq .Values.cluster.kubernetes_source "boot" -}}
{{- $docker := dict "bootstrapTimeout" "20m" -}}
{{- $patches = list (include "telco-cloud-init.patch" (dict "target" (dict "kind" "DevMachineTemplate")
  "operations" (dict "apiVersion" "infrastructure.cluster.x-k8s.io/any" "kind" "DevMachineTemplate" "metadata" (dict "name" "any")
    "spec" (dict "template" (dict "spec" (dict "backend" (dict "docker" $docker)))))) | fromJson) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.capd.controlPlaneFiles" -}}[]{{- end -}}

{{- define "telco-cloud-init.capd.hashed" -}}{}{{- end -}}

{{- define "telco-cloud-init.capd.ignition" -}}
{{- dict "fields" (dict "format" "ignition" "ignition" (dict "containerLinuxConfig" (dict "strict" true))) | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.capd.flavor" -}}{}{{- end -}}

{{- define "telco-cloud-init.capd.machineConfigLimit" -}}0{{- end -}}

{{- define "telco-cloud-init.capd.kubeletArguments" -}}cgroup-root eviction-hard fail-swap-on image-gc-high-threshold runtime-cgroups{{- end -}}

{{/* The provider reads cloud-config and Ignition itself, and fails on what it does not know. */}}
{{- define "telco-cloud-init.capd.settingsRefused" -}}ntp.servers users{{- end -}}

{{- define "telco-cloud-init.capd.ignitionRefused" -}}
RKE2's provider writes Ignition 3 for SELinux, docker's reads Ignition 2.3
{{- end -}}

{{- define "telco-cloud-init.capd.sysextRefused" -}}
the provider for Docker fetches no files: it writes their address into them
{{- end -}}

{{/* The provider for docker asks for this file before it runs these commands. It writes it itself for kubeadm only, and until it knows the node of a
     machine that was moved, nothing else keeps it from running them again. */}}
{{- define "telco-cloud-init.capd.rke2Commands" -}}
{{- dict "commands" (list "mkdir -p /run/cluster-api && echo started > /run/cluster-api/capd.bootstrap.started") | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.capd.addressLeaves" -}}{{- end -}}

{{- define "telco-cloud-init.capd.warnings" -}}{{- end -}}
