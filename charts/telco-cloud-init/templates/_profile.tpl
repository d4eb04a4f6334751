{{/* cluster.kubernetes as JSON, with what cluster.security_profile adds. A value of the user always counts. */}}
{{- define "telco-cloud-init.kubernetes" -}}
{{- $kubernetes := deepCopy (.Values.cluster.kubernetes | default dict) -}}
{{- $profile := include "telco-cloud-init.profile" . | fromJson -}}
{{- if $profile -}}
{{- /* Empty values are defaults of the chart, and not the user's. */ -}}
{{- if not (($kubernetes.audit_policy | default dict).rules) -}}
{{- $_ := set $kubernetes "audit_policy" (merge (dict "rules" $profile.audit_rules) ($kubernetes.audit_policy | default dict)) -}}
{{- end -}}
{{- range $component, $arguments := $profile.arguments -}}
{{- $settings := get $kubernetes $component | default dict -}}
{{- $_ := set $kubernetes $component (dict "extra_args" (merge (deepCopy ($settings.extra_args | default dict)) $arguments)) -}}
{{- end -}}
{{- $admission := $kubernetes.admission | default dict -}}
{{- $security := $admission.pod_security | default dict -}}
{{- range $mode, $level := $profile.pod_security -}}
{{- if not (get $security $mode) -}}{{- $_ := set $security $mode $level -}}{{- end -}}
{{- end -}}
{{- $plugins := concat ($admission.plugins | default list) $profile.plugins | uniq -}}
{{- $_ := set $kubernetes "admission" (merge (dict "pod_security" $security "plugins" $plugins) $admission) -}}
{{- end -}}
{{- toJson $kubernetes -}}
{{- end -}}

{{/* What the profile asks for where kubeadm's and RKE2's defaults differ, as JSON; {} for none. pkg/benchmark checks it: the CIS Kubernetes Benchmark
     (v1.12), and DISA's STIG, which asks for a little more. */}}
{{- define "telco-cloud-init.profile" -}}
{{- $ciphers := "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384" -}}
{{- $profile := dict
  "arguments" (dict
    "api_server" (dict "profiling" "false" "service-account-extend-token-expiration" "false" "tls-cipher-suites" $ciphers)
    "controller_manager" (dict "profiling" "false" "terminated-pod-gc-threshold" "1000")
    "scheduler" (dict "profiling" "false")
    "kubelet" (dict "pod-max-pids" "4096" "seccomp-default" "true" "streaming-connection-idle-timeout" "5m0s" "tls-cipher-suites" $ciphers))
  "audit_rules" (list (dict "level" "Metadata"))
  "plugins" (list "DenyServiceExternalIPs")
  "pod_security" (dict "enforce" "baseline" "audit" "restricted" "warn" "restricted")
  "sysctls" dict -}}
{{- if eq .Values.cluster.security_profile "stig" -}}
{{- range list "api_server" "controller_manager" "scheduler" "kubelet" -}}{{- $_ := set (get $profile.arguments .) "tls-min-version" "VersionTLS12" -}}{{- end -}}
{{- $_ := set $profile.arguments.api_server "request-timeout" "5m0s" -}}
{{- $_ := set $profile.arguments.kubelet "protect-kernel-defaults" "true" -}}
{{- /* With that argument kubelet refuses to start where these differ, and does not set them itself. */ -}}
{{- $_ := set $profile "sysctls" (dict "vm.overcommit_memory" "1" "vm.panic_on_oom" "0" "kernel.panic" "10" "kernel.panic_on_oops" "1" "kernel.keys.root_maxkeys" "1000000" "kernel.keys.root_maxbytes" "25000000") -}}
{{- end -}}
{{- if has .Values.cluster.security_profile (list "cis" "stig") -}}{{- toJson $profile -}}{{- else -}}{}{{- end -}}
{{- end -}}

{{/* Kernel parameters, {NAME: value} as JSON: those of the profile, and of the user, which count. */}}
{{- define "telco-cloud-init.sysctls" -}}
{{- $own := deepCopy ((.Values.cluster.machines | default dict).sysctls | default dict) -}}
{{- merge $own ((include "telco-cloud-init.profile" . | fromJson).sysctls | default dict) | toJson -}}
{{- end -}}

{{/* Commands after kubeadm: files that it makes readable for all. */}}
{{- define "telco-cloud-init.profileCommands" -}}
{{- if and (include "telco-cloud-init.profile" . | fromJson) (eq .Values.cluster.bootstrap_provider "kubeadm") -}}
{{- list "for f in /var/lib/kubelet/config.yaml /etc/systemd/system/kubelet.service.d/10-kubeadm.conf /usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf /etc/kubernetes/pki/*.crt /etc/kubernetes/pki/etcd/*.crt; do test ! -f \"$f\" || chmod 600 \"$f\"; done" | toJson -}}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/* A profile without what only the user can give. */}}
{{- define "telco-cloud-init.checkProfile" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- if and (include "telco-cloud-init.profile" . | fromJson) (eq .Values.cluster.bootstrap_provider "kubeadm") (not ((.Values.cluster.kubernetes | default dict).encryption_at_rest | default dict).keys) -}}
{{- printf "values/invalid: cluster.security_profile is %s, but cluster.kubernetes.encryption_at_rest.keys has no key\nhint: Write a key into the secrets, for example of `head -c 32 /dev/urandom | base64`.\n" .Values.cluster.security_profile -}}
{{- end -}}
{{- end -}}
{{- end -}}
