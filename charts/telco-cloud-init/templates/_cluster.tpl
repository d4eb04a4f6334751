{{- define "telco-cloud-init.bootstrapComponent" -}}
{{- get (dict "kubeadm" "cabpk" "rke2" "cabpr") .Values.cluster.bootstrap_provider -}}
{{- end -}}

{{/* The path part of a unix:// DOCKER_HOST, unless the socket is given. */}}
{{- define "telco-cloud-init.dockerSocket" -}}
{{- $fromHost := "" -}}
{{- if hasPrefix "unix://" .Values.cluster.docker_host -}}
{{- $fromHost = trimPrefix "unix://" .Values.cluster.docker_host -}}
{{- end -}}
{{- coalesce .Values.cluster.docker_socket $fromHost "/var/run/docker.sock" -}}
{{- end -}}

{{- define "telco-cloud-init.nodeImage" -}}
{{- .Values.cluster.image | default (printf "kindest/node:%s" .Values.cluster.kubernetes_version) -}}
{{- end -}}

{{/* The list of taints as JSON: it is substituted into the manifest. */}}
{{- define "telco-cloud-init.controlPlaneTaints" -}}
{{- if .Values.cluster.control_plane.schedulable -}}
[]
{{- else if not .Values.cluster.worker.replicas -}}
{{- fail "values/invalid: cluster.control_plane.schedulable is false and cluster.worker.replicas is 0: no machine would be left for ordinary pods" -}}
{{- else -}}
{{- list (dict "key" "node-role.kubernetes.io/control-plane" "effect" "NoSchedule") | toJson -}}
{{- end -}}
{{- end -}}

{{/* Hash of all that is in the templates of machines. It must not depend on the phase: the management cluster would
     replace its own machines as soon as it takes over. */}}
{{- define "telco-cloud-init.templateHash" -}}
{{- $patches := list -}}
{{- with .Values.components.cluster.spec -}}{{- $patches = .patches | default list -}}{{- end -}}
{{- $content := dict
  "version" .Values.cluster.kubernetes_version
  "image" (include "telco-cloud-init.nodeImage" .)
  "socket" (include "telco-cloud-init.dockerSocket" .)
  "failCgroupV1" .Values.cluster.fail_cgroup_v1
  "machine" (include "telco-cloud-init.machineFiles" .)
  "path" (tpl .Values.components.cluster.path .)
  "patches" $patches
-}}
{{- $content | toJson | sha256sum | trunc 8 -}}
{{- end -}}

{{/* no_proxy with what must never go through a proxy: the API server, pods, services and the mirrors' hosts. */}}
{{- define "telco-cloud-init.noProxy" -}}
{{- $addresses := splitList "," .Values.proxies.no_proxy -}}
{{- $addresses = concat $addresses (list "localhost" "127.0.0.1" .Values.cluster.pod_cidr .Values.cluster.service_cidr ".svc" ".svc.cluster.local" ".cluster.local") -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- $addresses = append $addresses (urlParse .url).hostname -}}
{{- end -}}
{{- $trimmed := list -}}
{{- range $addresses -}}{{- $trimmed = append $trimmed (trim .) -}}{{- end -}}
{{- $trimmed | compact | uniq | join "," -}}
{{- end -}}

{{/* {NAME: value} of the proxy variables, as JSON; empty when there is no proxy. */}}
{{- define "telco-cloud-init.proxyVariables" -}}
{{- $variables := dict -}}
{{- with .Values.proxies.http_proxy -}}{{- $_ := set $variables "HTTP_PROXY" . -}}{{- end -}}
{{- with .Values.proxies.https_proxy -}}{{- $_ := set $variables "HTTPS_PROXY" . -}}{{- end -}}
{{- if $variables -}}
{{- $_ := set $variables "NO_PROXY" (include "telco-cloud-init.noProxy" .) -}}
{{- toJson $variables -}}
{{- end -}}
{{- end -}}

{{/* Files for every machine, {files: [...], commands: [...]} as JSON: registry mirrors and proxies. */}}
{{- define "telco-cloud-init.machineFiles" -}}
{{- $files := list -}}
{{- $commands := list -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- $lines := list (printf "[host.%q]" .url) "  capabilities = [\"pull\", \"resolve\"]" -}}
{{- if .override_path -}}{{- $lines = append $lines "  override_path = true" -}}{{- end -}}
{{- if .skip_verify -}}{{- $lines = append $lines "  skip_verify = true" -}}{{- end -}}
{{- $files = append $files (dict
  "path" (printf "/etc/containerd/certs.d/%s/hosts.toml" .host)
  "owner" "root:root" "permissions" "0644"
  "content" (printf "%s\n" (join "\n" $lines))) -}}
{{- end -}}
{{- with include "telco-cloud-init.proxyVariables" . -}}
{{- $lines := list "[Service]" -}}
{{- range $name, $value := fromJson . -}}
{{- $lines = append $lines (printf "Environment=\"%s=%s\"" $name ($value | replace "%" "%%")) -}}
{{- end -}}
{{- range list "containerd" "kubelet" -}}
{{- $files = append $files (dict
  "path" (printf "/etc/systemd/system/%s.service.d/http-proxy.conf" .)
  "owner" "root:root" "permissions" "0600"
  "content" (printf "%s\n" (join "\n" $lines))) -}}
{{- end -}}
{{- $commands = list "systemctl daemon-reload" "systemctl restart containerd" -}}
{{- end -}}
{{- dict "files" $files "commands" $commands | toJson -}}
{{- end -}}
