{{/* "true" when ordinary pods may run on a pool's machines. */}}
{{- define "telco-cloud-init.poolTakesPods" -}}
{{- $pool := include "telco-cloud-init.pool" . | fromJson -}}
{{- $closed := "" -}}
{{- range $pool.taints -}}{{- if ne .effect "PreferNoSchedule" -}}{{- $closed = .key -}}{{- end -}}{{- end -}}
{{- if and (or (kindIs "invalid" $pool.replicas) $pool.replicas) (not $closed) -}}true{{- end -}}
{{- end -}}

{{/* Pools that could not be, or whose labels no node would get. */}}
{{- define "telco-cloud-init.checkPools" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- include "telco-cloud-init.checkPool" (dict "root" . "at" "cluster.worker") -}}
{{- range $name, $_ := .Values.cluster.workers -}}
{{- $args := dict "root" $ "pool" $name "at" (printf "cluster.workers.%s" $name) -}}
{{- $component := include "telco-cloud-init.poolComponent" $args -}}
{{- if regexMatch "workers|control-plane" $name -}}
{{- printf "values/invalid: cluster.workers.%s has a name with workers or control-plane in it, which names of other objects are made with\nhint: Choose another one. The pool workers itself is cluster.worker.\n" $name -}}
{{- end -}}
{{- /* Names of machines are this one and 12 more characters; the name of a Node has at most 63. */ -}}
{{- if gt (len (include "telco-cloud-init.poolName" $args)) 51 -}}
{{- printf "values/invalid: cluster.workers.%s is too long for cluster %s: both names together may have 42 characters, as machines have them in their names\nhint: Choose a shorter one.\n" $name $.Values.cluster.name -}}
{{- end -}}
{{- if hasKey $.Values.components $component -}}
{{- printf "values/invalid: cluster.workers.%s needs a Kustomization %s, and there is a component of that name (components.%s)\nhint: Give one of them another name.\n" $name $component $component -}}
{{- end -}}
{{- include "telco-cloud-init.checkPool" $args -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The same for one pool; .at is the path of its values. kubelet does not start with a label of Kubernetes' own that it may not set, see
     IsKubeletLabel in k8s.io/kubelet. */}}
{{- define "telco-cloud-init.checkPool" -}}
{{- $pool := include "telco-cloud-init.pool" . | fromJson -}}
{{- range $key, $_ := (include "telco-cloud-init.poolLabels" . | fromJson).registered -}}
{{- $domain := "" -}}
{{- if contains "/" $key -}}{{- $domain = splitList "/" $key | first -}}{{- end -}}
{{- if and (regexMatch "(^|\\.)(kubernetes|k8s)\\.io$" $domain) (not (regexMatch "(^|\\.)(kubelet|node)\\.kubernetes\\.io$" $domain)) (not (regexMatch "^topology\\.kubernetes\\.io/(zone|region)$" $key)) -}}
{{- printf "values/invalid: %s.labels has %s, which no node can be given: neither Cluster API nor kubelet may set it\nhint: Use a domain of your own, or node-role.kubernetes.io, node-restriction.kubernetes.io or node.cluster.x-k8s.io.\n" $.at $key -}}
{{- end -}}
{{- end -}}
{{- $seen := list -}}
{{- range $pool.taints -}}
{{- $taint := printf "%s:%s" .key .effect -}}
{{- if has $taint $seen -}}
{{- printf "values/invalid: %s.taints has %s twice\nhint: Leave one of them out.\n" $.at $taint -}}
{{- end -}}
{{- $seen = append $seen $taint -}}
{{- end -}}
{{- if and $pool.flavor (not (include "telco-cloud-init.provider" (dict "root" .root "template" "flavor" "context" $pool.flavor) | fromJson)) -}}
{{- printf "values/invalid: %s.flavor is %s, but machines of %s have no flavors\nhint: Leave it out.\n" .at $pool.flavor .root.Values.cluster.infra_provider -}}
{{- end -}}
{{- end -}}
