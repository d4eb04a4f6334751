{{- define "telco-cloud-init.bootstrapComponent" -}}
{{- get (dict "kubeadm" "cabpk" "rke2" "cabpr") .Values.cluster.bootstrap_provider -}}
{{- end -}}

{{- define "telco-cloud-init.controlPlaneKind" -}}
{{- get (dict "kubeadm" "KubeadmControlPlane" "rke2" "RKE2ControlPlane") .Values.cluster.bootstrap_provider -}}
{{- end -}}

{{- define "telco-cloud-init.controlPlaneAPI" -}}
controlplane.cluster.x-k8s.io/{{ get (dict "kubeadm" "v1beta2" "rke2" "v1beta1") .Values.cluster.bootstrap_provider }}
{{- end -}}

{{- define "telco-cloud-init.nodeImage" -}}
{{- $own := "" -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}{{- $own = .Values.cluster.rke2.image -}}{{- end -}}
{{- /* RKE2 adds its own release to the version. */ -}}
{{- $version := splitList "+" .Values.cluster.kubernetes_version | first -}}
{{- $image := printf "kindest/node:%s" $version -}}
{{- with index .Values.cluster.node_image_digests $version -}}{{- $image = printf "%s@%s" $image . -}}{{- end -}}
{{- coalesce $own .Values.cluster.image $image -}}
{{- end -}}

{{/* The list of taints as JSON, as the bootstrap provider writes them: it is substituted into the manifest. */}}
{{- define "telco-cloud-init.controlPlaneTaints" -}}
{{- if .Values.cluster.control_plane.schedulable -}}
[]
{{- else -}}
{{- $key := "node-role.kubernetes.io/control-plane" -}}
{{- $taint := ternary (printf "%s:NoSchedule" $key) (dict "key" $key "effect" "NoSchedule") (eq .Values.cluster.bootstrap_provider "rke2") -}}
{{- list $taint | toJson -}}
{{- end -}}
{{- end -}}

{{/* Numbers of machines that cannot work. The schema could refuse an even number as well, but not say why. */}}
{{- define "telco-cloud-init.checkControlPlane" -}}
{{- $replicas := int .Values.cluster.control_plane.replicas -}}
{{- if and (gt $replicas 0) (eq (mod $replicas 2) 0) -}}
{{- printf "values/invalid: cluster.control_plane.replicas is %d, an even number of control planes: etcd's quorum is %d of %d, so they tolerate no more failed machines than %d would\nhint: Use an odd number, for example --set cluster.control_plane.replicas=%d.\n" $replicas (add (div $replicas 2) 1) $replicas (sub $replicas 1) (add $replicas 1) -}}
{{- end -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- $takePods := include "telco-cloud-init.poolTakesPods" (dict "root" .) -}}
{{- range $pool, $_ := .Values.cluster.workers -}}
{{- $takePods = printf "%s%s" $takePods (include "telco-cloud-init.poolTakesPods" (dict "root" $ "pool" $pool)) -}}
{{- end -}}
{{- if and (not .Values.cluster.control_plane.schedulable) (not $takePods) -}}
{{- $why := "is 0" -}}
{{- if or .Values.cluster.worker.replicas .Values.cluster.workers -}}{{- $why = "is 0 or has taints, as has each pool of cluster.workers" -}}{{- end -}}
{{- printf "values/invalid: cluster.control_plane.schedulable is false and cluster.worker.replicas %s: no machine would be left for ordinary pods\nhint: Set one of them: --set cluster.control_plane.schedulable=true, or --set cluster.worker.replicas=1.\n" $why -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Names that Flux, which substitutes text, would turn into a boolean or null. */}}
{{- define "telco-cloud-init.checkName" -}}
{{- if has .Values.cluster.name (list "true" "false" "null" "yes" "no" "on" "off" "y" "n") -}}
{{- printf "values/invalid: cluster.name is %q, which is no text in YAML\nhint: Choose another one, for example --set cluster.name=management-%s.\n" .Values.cluster.name .Values.cluster.name -}}
{{- end -}}
{{- if and (eq .Values.phase "workload") (gt (len .Values.cluster.name) 40) -}}
{{- printf "values/invalid: cluster.name %q has more than 40 characters, and names of objects begin with it\nhint: Choose a shorter one.\n" .Values.cluster.name -}}
{{- end -}}
{{- end -}}

{{/* {templates, commands} as JSON, what definitions.json says of the cluster's definition: the hash of its templates, and the kinds that have a
     list of commands. {} when it is not known there. */}}
{{- define "telco-cloud-init.definition" -}}
{{- $definition := get (.Files.Get "definitions.json" | fromJson) (tpl .Values.components.cluster.path .) | default dict -}}
{{- /* As earlier charts had it. */ -}}
{{- if kindIs "string" $definition -}}{{- $definition = dict "templates" $definition -}}{{- end -}}
{{- toJson $definition -}}
{{- end -}}

{{/* Hash of all that is in the templates of machines: the values that they are given, and the templates themselves, of
     which the chart has the hash in definitions.json. It must not depend on the phase: the management cluster would replace its own machines as soon as it takes over. */}}
{{- define "telco-cloud-init.templateHash" -}}
{{- $patches := list -}}
{{- with .Values.components.cluster.spec -}}{{- $patches = .patches | default list -}}{{- end -}}
{{- $path := tpl .Values.components.cluster.path . -}}
{{- $content := dict
  "definition" ((include "telco-cloud-init.definition" . | fromJson).templates | default "")
  "version" .Values.cluster.kubernetes_version
  "image" (include "telco-cloud-init.nodeImage" .)
  "socket" (include "telco-cloud-init.dockerSocket" .)
  "failCgroupV1" .Values.cluster.fail_cgroup_v1
  "machine" (include "telco-cloud-init.machineFiles" .)
  "path" $path
  "patches" $patches
  "format" .Values.cluster.bootstrap_format
-}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- $_ := set $content "rke2" (dict "values" (omit .Values.cluster.rke2 "cni" "registration_method") "cni" (include "telco-cloud-init.rke2CNI" .)) -}}
{{- end -}}
{{- with include "telco-cloud-init.proxyVariables" . -}}
{{- $_ := set $content "proxies" (include "telco-cloud-init.proxiesVersion" (dict "root" $ "variables" (fromJson .))) -}}
{{- end -}}
{{- $content = merge $content (include "telco-cloud-init.provider" (dict "root" . "template" "hashed" "context" .) | fromJson) -}}
{{- $content | toJson | sha256sum | trunc 8 -}}
{{- end -}}

{{/* What every machine has besides its definition, as JSON, in the terms of its bootstrap provider: {files: [...], commands: [...],
     fields: {...}}. The chart's own come first, then the settings of cluster.machines. */}}
{{- define "telco-cloud-init.machineFiles" -}}
{{- $machine := include "telco-cloud-init.chartMachine" . | fromJson -}}
{{- $own := include "telco-cloud-init.machineSettings" . | fromJson -}}
{{- /* Without a setting the hash of the machines' templates stays: two empty lists would make null. */ -}}
{{- if $own.files -}}{{- $_ := set $machine "files" (concat ($machine.files | default list) $own.files) -}}{{- end -}}
{{- if $own.commands -}}{{- $_ := set $machine "commands" (concat ($machine.commands | default list) $own.commands) -}}{{- end -}}
{{- if $own.fields -}}{{- $_ := set $machine "fields" (merge $own.fields ($machine.fields | default dict)) -}}{{- end -}}
{{- toJson $machine -}}
{{- end -}}

{{/* The same without those settings. */}}
{{- define "telco-cloud-init.chartMachine" -}}
{{- $machine := include (printf "telco-cloud-init.%sMachine" .Values.cluster.bootstrap_provider) . -}}
{{- $trust := include "telco-cloud-init.machineTrust" . | fromJson -}}
{{- $first := list -}}
{{- if eq .Values.cluster.bootstrap_provider "rke2" -}}
{{- $provider := include "telco-cloud-init.provider" (dict "root" . "template" "rke2Commands" "context" .) | fromJson -}}
{{- $first = $provider.commands | default list -}}
{{- end -}}
{{- if or $trust.files $first -}}
{{- /* Trust comes before what may already fetch something. Without any, the hash of the machines' templates stays. */ -}}
{{- $machine = fromJson $machine -}}
{{- if $trust.files -}}{{- $_ := set $machine "files" (concat $trust.files ($machine.files | default list)) -}}{{- end -}}
{{- $_ := set $machine "commands" (concat $first ($trust.commands | default list) ($machine.commands | default list)) -}}
{{- $machine = toJson $machine -}}
{{- end -}}
{{- $machine -}}
{{- end -}}
