{{/* Health checks of machines: component health-checks, one Kustomization for the control plane and the pool `workers`, and one for each
     further pool. Here .pool is the name of a further pool, as in _pools.tpl. */}}

{{/* The component that a pool's Kustomization is, and its name without that of a workload cluster. */}}
{{- define "telco-cloud-init.healthChecksComponent" -}}
{{- printf "health-checks-%s" .pool -}}
{{- end -}}

{{/* "true" when a failed control-plane machine is replaced. A single one has the only copy of etcd's data. The provider may delete the API server's address with a machine. */}}
{{- define "telco-cloud-init.controlPlaneChecked" -}}
{{- $checks := .Values.cluster.health_checks -}}
{{- $enabled := $checks.control_plane.enabled -}}
{{- if not (kindIs "bool" $enabled) -}}{{- $enabled = ge (int .Values.cluster.control_plane.replicas) 3 -}}{{- end -}}
{{- $leaves := include "telco-cloud-init.provider" (dict "root" . "template" "addressLeaves" "context" .) -}}
{{- if and $checks.enabled $enabled (not $leaves) -}}true{{- end -}}
{{- end -}}

{{/* "true" when a failed worker is replaced. */}}
{{- define "telco-cloud-init.workersChecked" -}}
{{- if and .Values.cluster.health_checks.enabled .Values.cluster.health_checks.workers.enabled -}}true{{- end -}}
{{- end -}}

{{/* How many control-plane machines etcd can lose: it needs more than half of its members. */}}
{{- define "telco-cloud-init.controlPlaneSpare" -}}
{{- div (sub (int .Values.cluster.control_plane.replicas) 1) 2 -}}
{{- end -}}

{{/* Up to how many failed control-plane machines are replaced. */}}
{{- define "telco-cloud-init.controlPlaneMaxUnhealthy" -}}
{{- with int .Values.cluster.health_checks.control_plane.max_unhealthy -}}{{ . }}{{- else -}}{{ include "telco-cloud-init.controlPlaneSpare" . }}{{- end -}}
{{- end -}}

{{/* How long Cluster API's InfrastructureReady may be other than True. */}}
{{- define "telco-cloud-init.infrastructureSeconds" -}}
{{- $checks := .Values.cluster.health_checks -}}
{{- with int $checks.infrastructure_seconds -}}{{ . }}{{- else -}}{{ int $checks.node_startup_seconds }}{{- end -}}
{{- end -}}

{{/* Up to how many failed machines of a pool are replaced, as JSON: two of five of those that there are, and at least one. Cluster API
     rounds 40% of one or two machines down to none, so an autoscaler's pool that may be that small has one. */}}
{{- define "telco-cloud-init.workersMaxUnhealthy" -}}
{{- $most := .root.Values.cluster.health_checks.workers.max_unhealthy -}}
{{- $pool := include "telco-cloud-init.pool" . | fromJson -}}
{{- if kindIs "string" $most -}}
{{- $most | toJson -}}
{{- else if int $most -}}
{{- int $most -}}
{{- else if kindIs "invalid" $pool.replicas -}}
{{- $least := get ($pool.annotations | default dict) "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size" | default "1" -}}
{{- if ge (int $least) 3 -}}"40%"{{- else -}}1{{- end -}}
{{- else -}}
{{- max 1 (div (mul 2 (int $pool.replicas)) 5) -}}
{{- end -}}
{{- end -}}

{{/* Variables of the component health-checks, as JSON. */}}
{{- define "telco-cloud-init.healthCheckVariables" -}}
{{- $checks := .root.Values.cluster.health_checks -}}
{{- dict
  "CLUSTER_NAME" .root.Values.cluster.name
  "WORKERS_NAME" (include "telco-cloud-init.poolName" .)
  "NODE_STARTUP_SECONDS" (int $checks.node_startup_seconds | toString)
  "UNHEALTHY_SECONDS" (int $checks.unhealthy_seconds | toString)
  "INFRASTRUCTURE_SECONDS" (include "telco-cloud-init.infrastructureSeconds" .root)
  "CONTROL_PLANE_MAX_UNHEALTHY" (include "telco-cloud-init.controlPlaneMaxUnhealthy" .root)
  "WORKERS_MAX_UNHEALTHY" (include "telco-cloud-init.workersMaxUnhealthy" .)
| toJson -}}
{{- end -}}

{{/* {patches: [...]} as JSON that take away what is switched off, and the control plane's for a further pool. Names still
     have their variables here. */}}
{{- define "telco-cloud-init.healthCheckPatches" -}}
{{- $off := list -}}
{{- if or (hasKey . "pool") (not (include "telco-cloud-init.controlPlaneChecked" .root)) -}}{{- $off = append $off ".*-control-plane" -}}{{- end -}}
{{- if not (include "telco-cloud-init.workersChecked" .root) -}}{{- $off = append $off ".*WORKERS_NAME.*" -}}{{- end -}}
{{- $patches := list -}}
{{- range $off -}}
{{- $patches = append $patches (dict "target" (dict "kind" "MachineHealthCheck" "name" .)
  "patch" (dict "$patch" "delete" "apiVersion" "v1" "kind" "any" "metadata" (dict "name" "any") | toYaml)) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{/* Health checks that would replace machines that start, or more machines than the cluster can lose. */}}
{{- define "telco-cloud-init.checkHealthChecks" -}}
{{- $checks := .Values.cluster.health_checks -}}
{{- if and $checks.enabled (include "telco-cloud-init.enabled" (dict "root" . "name" "cluster")) -}}
{{- $least := 300 -}}
{{- $why := "" -}}
{{- if eq .Values.cluster.kubernetes_source "boot" -}}
{{- $least = 1200 -}}
{{- $why = " of machines that install Kubernetes (cluster.kubernetes_source is boot)" -}}
{{- end -}}
{{- $startup := int $checks.node_startup_seconds -}}
{{- if lt $startup $least -}}
{{- printf "values/invalid: cluster.health_checks.node_startup_seconds is %d, shorter than a boot%s: each new machine would be replaced before it is a node\nhint: Set it to %d or more, for example --set cluster.health_checks.node_startup_seconds=1200.\n" $startup $why $least -}}
{{- end -}}
{{- if lt (int $checks.unhealthy_seconds) 60 -}}
{{- printf "values/invalid: cluster.health_checks.unhealthy_seconds is %d, shorter than a boot: a machine that restarts would be replaced\nhint: Set it to 60 or more, for example --set cluster.health_checks.unhealthy_seconds=300.\n" (int $checks.unhealthy_seconds) -}}
{{- end -}}
{{- $infrastructure := int (include "telco-cloud-init.infrastructureSeconds" .) -}}
{{- if lt $infrastructure $startup -}}
{{- printf "values/invalid: cluster.health_checks.infrastructure_seconds is %d, shorter than a boot (node_startup_seconds is %d): a machine has no infrastructure that is ready until its server runs\nhint: Set it to %d or more, or leave it out.\n" $infrastructure $startup $startup -}}
{{- end -}}
{{- $replicas := int .Values.cluster.control_plane.replicas -}}
{{- $spare := int (include "telco-cloud-init.controlPlaneSpare" .) -}}
{{- $most := int $checks.control_plane.max_unhealthy -}}
{{- if and (eq (toString $checks.control_plane.enabled) "true") (lt $replicas 3) -}}
{{- printf "values/invalid: cluster.health_checks.control_plane.enabled is true, but cluster.control_plane.replicas is %d: the only control-plane machine has the only copy of etcd's data, and is never replaced\nhint: Leave it out, or use three control-plane machines: --set cluster.control_plane.replicas=3.\n" $replicas -}}
{{- else if and (include "telco-cloud-init.controlPlaneChecked" .) (gt $most $spare) -}}
{{- printf "values/invalid: cluster.health_checks.control_plane.max_unhealthy is %d, but %d control-plane machines lose etcd's quorum when %d of them fail\nhint: Set it to %d or less, or leave it out.\n" $most $replicas (add $spare 1) $spare -}}
{{- end -}}
{{- range $pool, $_ := .Values.cluster.workers -}}
{{- $component := include "telco-cloud-init.healthChecksComponent" (dict "pool" $pool) -}}
{{- if hasKey $.Values.components $component -}}
{{- printf "values/invalid: cluster.workers.%s needs a Kustomization %s, and there is a component of that name (components.%s)\nhint: Give one of them another name.\n" $pool $component $component -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
