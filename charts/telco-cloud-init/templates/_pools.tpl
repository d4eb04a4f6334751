{{/* Pools of workers. The definition of a cluster has one, `workers` (cluster.worker). Each further one of cluster.workers gets a Kustomization
     of its own from the same folder: patches take all but the workers away, and give them another name. Here .pool is the name of a
     further pool, and absent for `workers`. */}}

{{/* The name of a pool's MachineDeployment; those of its templates begin with it. */}}
{{- define "telco-cloud-init.poolName" -}}
{{- printf "%s-workers%s" .root.Values.cluster.name (ternary (printf "-%s" .pool) "" (hasKey . "pool")) -}}
{{- end -}}

{{/* The component that a pool's Kustomization is, and its name without that of a workload cluster. */}}
{{- define "telco-cloud-init.poolComponent" -}}
{{- printf "workers-%s" .pool -}}
{{- end -}}

{{/* The values of a pool, as JSON. */}}
{{- define "telco-cloud-init.pool" -}}
{{- $values := .root.Values.cluster.worker -}}
{{- if hasKey . "pool" -}}{{- $values = index .root.Values.cluster.workers .pool -}}{{- end -}}
{{- $values | default dict | toJson -}}
{{- end -}}

{{/* Labels that Cluster API keeps on Nodes once they are on Machines: a change replaces no machine. kubelet may not set them itself, or need not.
     See GetManagedLabels in Cluster API. */}}
{{- define "telco-cloud-init.syncedLabel" -}}
^(node-role\.kubernetes\.io|([^/]+\.)?node-restriction\.kubernetes\.io|([^/]+\.)?node\.cluster\.x-k8s\.io)/
{{- end -}}

{{/* {synced, registered} as JSON: the labels of a pool that Cluster API sets, and those that kubelet registers the Node with. */}}
{{- define "telco-cloud-init.poolLabels" -}}
{{- $synced := dict -}}
{{- $registered := dict -}}
{{- range $key, $value := (include "telco-cloud-init.pool" . | fromJson).labels -}}
{{- $_ := set (ternary $synced $registered (regexMatch (include "telco-cloud-init.syncedLabel" $) $key)) $key $value -}}
{{- end -}}
{{- dict "synced" $synced "registered" $registered | toJson -}}
{{- end -}}

{{/* What the templates of a pool have besides those of all workers, as JSON: it is part of their hash. */}}
{{- define "telco-cloud-init.poolMachine" -}}
{{- $pool := include "telco-cloud-init.pool" . | fromJson -}}
{{- $machine := dict -}}
{{- with (include "telco-cloud-init.poolLabels" . | fromJson).registered -}}{{- $_ := set $machine "labels" . -}}{{- end -}}
{{- with $pool.taints -}}{{- $_ := set $machine "taints" . -}}{{- end -}}
{{- with $pool.flavor -}}{{- $_ := set $machine "flavor" . -}}{{- end -}}
{{- $kind := without (include "telco-cloud-init.machineKinds" .root | fromJson | keys) (include "telco-cloud-init.controlPlaneKind" .root) | first -}}
{{- with get .settings $kind -}}{{- $_ := set $machine "kubernetes" . -}}{{- end -}}
{{- with include "telco-cloud-init.machineadmDigest" (dict "root" .root "kind" $kind) -}}{{- $_ := set $machine "machineadm" . -}}{{- end -}}
{{- toJson $machine -}}
{{- end -}}

{{/* .variables of the component cluster, with those of a pool, as JSON. */}}
{{- define "telco-cloud-init.poolVariables" -}}
{{- $variables := .variables -}}
{{- $kind := include "telco-cloud-init.controlPlaneKind" .root -}}
{{- $settings := get .settings $kind | default dict -}}
{{- with include "telco-cloud-init.machineadmDigest" (dict "root" .root "kind" $kind) -}}{{- $settings = merge (dict "machineadm" .) $settings -}}{{- end -}}
{{- with $settings -}}
{{- /* No manifest has it: whoever compares it sees that the control plane is replaced. */ -}}
{{- $_ := set $variables "CONTROL_PLANE_SETTINGS_HASH" (toJson . | sha256sum | trunc 8) -}}
{{- end -}}
{{- $pool := include "telco-cloud-init.pool" . | fromJson -}}
{{- $machine := include "telco-cloud-init.poolMachine" . | fromJson -}}
{{- if kindIs "invalid" $pool.replicas -}}
{{- $_ := unset $variables "WORKER_REPLICAS" -}}
{{- else if hasKey . "pool" -}}
{{- $_ := set $variables "WORKER_REPLICAS" (toString $pool.replicas) -}}
{{- end -}}
{{- if or (hasKey . "pool") $machine -}}
{{- $base := coalesce $variables.WORKER_TEMPLATE_HASH $variables.TEMPLATE_HASH -}}
{{- $_ := set $variables "WORKER_TEMPLATE_HASH" (list $base $machine | toJson | sha256sum | trunc 8) -}}
{{- end -}}
{{- toJson $variables -}}
{{- end -}}

{{/* {patches: [...]} as JSON that make the workers of the definition those of a pool. .hash is that of its templates. */}}
{{- define "telco-cloud-init.poolPatches" -}}
{{- $pool := include "telco-cloud-init.pool" . | fromJson -}}
{{- $machine := include "telco-cloud-init.poolMachine" . | fromJson -}}
{{- $labels := (include "telco-cloud-init.poolLabels" . | fromJson).synced -}}
{{- $patches := list -}}
{{- with include "telco-cloud-init.poolRegistration" . | fromJson -}}{{- $patches = append $patches . -}}{{- end -}}
{{- with $pool.flavor -}}
{{- $template := include "telco-cloud-init.provider" (dict "root" $.root "template" "flavor" "context" .) | fromJson -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" (dict "kind" $template.kind "name" ".*-workers-.*")
  "operations" (dict "apiVersion" "infrastructure.cluster.x-k8s.io/any" "kind" $template.kind "metadata" (dict "name" "any")
    "spec" (dict "template" (dict "spec" $template.spec)))) | fromJson) -}}
{{- end -}}
{{- $spec := dict -}}
{{- with $labels -}}{{- $_ := set $spec "template" (dict "metadata" (dict "labels" .)) -}}{{- end -}}
{{- /* Without the field Flux leaves it to others, and Cluster API keeps what they set; it makes one machine first. */ -}}
{{- if kindIs "invalid" $pool.replicas -}}{{- $_ := set $spec "replicas" nil -}}{{- end -}}
{{- $metadata := dict "name" "any" -}}
{{- with $pool.annotations -}}{{- $_ := set $metadata "annotations" . -}}{{- end -}}
{{- if or $spec $pool.annotations -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" (dict "kind" "MachineDeployment" "name" ".*-workers")
  "operations" (dict "apiVersion" "cluster.x-k8s.io/v1beta2" "kind" "MachineDeployment" "metadata" $metadata "spec" $spec)) | fromJson) -}}
{{- end -}}
{{- if or (hasKey . "pool") $machine -}}
{{- $patches = concat $patches (include "telco-cloud-init.poolRename" . | fromJson).patches -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{/* The patch with which kubelet registers Nodes with labels and taints, as JSON; {} when a pool has none. Taints are not those of Machines, which
     Cluster API has behind a feature gate. */}}
{{- define "telco-cloud-init.poolRegistration" -}}
{{- $machine := include "telco-cloud-init.poolMachine" . | fromJson -}}
{{- $rke2 := eq .root.Values.cluster.bootstrap_provider "rke2" -}}
{{- $labels := list -}}
{{- range $key, $value := $machine.labels -}}{{- $labels = append $labels (printf "%s=%s" $key $value) -}}{{- end -}}
{{- $taints := list -}}
{{- range $machine.taints -}}
{{- $value := .value | default "" -}}
{{- $text := printf "%s%s:%s" .key (ternary (printf "=%s" $value) "" (ne $value "")) .effect -}}
{{- $taints = append $taints (ternary $text . $rke2) -}}
{{- end -}}
{{- $at := ternary "/spec/template/spec/agentConfig" "/spec/template/spec/joinConfiguration/nodeRegistration" $rke2 -}}
{{- $operations := list -}}
{{- if $labels -}}
{{- if $rke2 -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/nodeLabels" $at) "value" $labels) -}}
{{- else -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/kubeletExtraArgs/-" $at) "value" (dict "name" "node-labels" "value" (join "," $labels))) -}}
{{- end -}}
{{- end -}}
{{- if $taints -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/%s" $at (ternary "nodeTaints" "taints" $rke2)) "value" $taints) -}}
{{- end -}}
{{- if $operations -}}
{{- include "telco-cloud-init.patch" (dict "operations" $operations
  "target" (dict "kind" (ternary "RKE2ConfigTemplate" "KubeadmConfigTemplate" $rke2) "name" ".*-workers-.*")) -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* {patches: [...]} as JSON that name a pool and its templates, and take all else of the definition away for a further pool. */}}
{{- define "telco-cloud-init.poolRename" -}}
{{- $name := include "telco-cloud-init.poolName" . -}}
{{- $templates := printf "%s-%s" $name .hash -}}
{{- $workers := dict "kind" "MachineDeployment|.*ConfigTemplate|.*MachineTemplate" "name" ".*-workers(-.*)?" -}}
{{- $operations := list
  (dict "op" "add" "path" "/spec/template/spec/bootstrap/configRef/name" "value" $templates)
  (dict "op" "add" "path" "/spec/template/spec/infrastructureRef/name" "value" $templates) -}}
{{- $patches := list -}}
{{- if hasKey . "pool" -}}
{{- $label := dict "cluster-init.io/pool" .pool -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "target" $workers
  "operations" (dict "apiVersion" "v1" "kind" "any" "metadata" (dict "name" "any" "labels" $label))) | fromJson) -}}
{{- /* Its one dollar sign is for kustomize. */ -}}
{{- $patches = append $patches (dict "target" (dict "labelSelector" "!cluster-init.io/pool")
  "patch" (dict "$patch" "delete" "apiVersion" "v1" "kind" "any" "metadata" (dict "name" "any") | toYaml)) -}}
{{- $operations = concat $operations (list
  (dict "op" "add" "path" "/metadata/name" "value" $name)
  (dict "op" "add" "path" "/spec/selector/matchLabels/cluster.x-k8s.io~1deployment-name" "value" $name)
  (dict "op" "add" "path" "/spec/template/metadata/labels/cluster.x-k8s.io~1deployment-name" "value" $name)) -}}
{{- end -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict "operations" $operations
  "target" (dict "kind" "MachineDeployment" "name" ".*-workers")) | fromJson) -}}
{{- $patches = append $patches (include "telco-cloud-init.patch" (dict
  "target" (dict "kind" ".*ConfigTemplate|.*MachineTemplate" "name" ".*-workers-.*")
  "operations" (list (dict "op" "replace" "path" "/metadata/name" "value" $templates))) | fromJson) -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{/* {healthChecks, healthCheckExprs} as JSON: what the Kustomization of a further pool waits for. */}}
{{- define "telco-cloud-init.poolHealth" -}}
{{- $api := "cluster.x-k8s.io/v1beta2" -}}
{{- dict
  "healthChecks" (list (dict "apiVersion" $api "kind" "MachineDeployment" "name" (include "telco-cloud-init.poolName" .) "namespace" .root.Values.cluster.namespace))
  "healthCheckExprs" (list (dict "apiVersion" $api "kind" "MachineDeployment"
    "current" "has(status.conditions) && status.conditions.exists(c, c.type == 'Available' && c.status == 'True')"))
| toJson -}}
{{- end -}}
