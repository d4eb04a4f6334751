{{/* Places that something else writes: the chart, the definitions, kubeadm, RKE2 or Cluster API. */}}
{{- define "telco-cloud-init.takenPath" -}}
^(/etc/cluster-init\.io|/run/cluster-api|/run/kubeadm|/etc/kubernetes/(pki|cluster-init)|/var/log/kubernetes/audit|/etc/rancher/rke2/cluster-init|/var/lib/rancher/rke2/server/tls)(/|$)|^/etc/kubeadm|^/etc/rancher/rke2/(config|registries)\.yaml$|^/etc/rancher/rke2/config\.yaml\.d/50-|^/etc/(sysctl|modules-load)\.d/90-cluster-init\.conf$|^/etc/kubernetes/(patches/kubeletconfiguration0\+strategic\.json|manifests/(kube-|etcd)|[a-z-]+\.conf$)|^/etc/systemd/system/(kubelet|rke2-server|rke2-agent)\.service\.d/20-cluster-api\.conf$
{{- end -}}

{{/* Settings that no machine could have. */}}
{{- define "telco-cloud-init.checkMachines" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- $machines := .Values.cluster.machines | default dict -}}
{{- $taken := dict -}}
{{- range (include "telco-cloud-init.chartMachine" . | fromJson).files -}}{{- $_ := set $taken .path true -}}{{- end -}}
{{- if include "telco-cloud-init.machineadm" . -}}
{{- range include "telco-cloud-init.machineadmPaths" . | fromJsonArray -}}{{- $_ := set $taken . true -}}{{- end -}}
{{- end -}}
{{- /* Cluster API takes 10240 bytes of base64. */ -}}
{{- $most := 7680 -}}
{{- $seen := dict -}}
{{- $users := list -}}
{{- range $machines.users -}}{{- $users = append $users .name -}}{{- end -}}
{{- range $i, $file := $machines.files -}}
{{- $at := printf "cluster.machines.files[%d]" $i -}}
{{- $ofMachineadm := and (include "telco-cloud-init.machineadm" $) (regexMatch "^/(etc|opt)/machineadm(/|$)" .path) -}}
{{- if or (hasKey $taken .path) $ofMachineadm (regexMatch (include "telco-cloud-init.takenPath" $) .path) -}}
{{- printf "values/invalid: %s.path is %s, which cluster-init, Cluster API or the bootstrap provider writes\nhint: Choose another place.\n" $at .path -}}
{{- end -}}
{{- if regexMatch "/\\.{1,2}(/|$)|:$" .path -}}
{{- printf "values/invalid: %s.path is %s, which has a part . or .., or ends in a colon\nhint: Write it without.\n" $at .path -}}
{{- end -}}
{{- range splitList ":" (.owner | default "root") -}}
{{- if has . $users -}}
{{- printf "values/invalid: %s.owner names %s, a user of cluster.machines.users, which a machine makes after its files\nhint: Let a command of cluster.machines.pre_commands change the owner.\n" $at . -}}
{{- end -}}
{{- end -}}
{{- if hasKey $seen .path -}}
{{- printf "values/invalid: %s.path is %s, as is that of another file\nhint: Remove one of them.\n" $at .path -}}
{{- end -}}
{{- $_ := set $seen .path true -}}
{{- if gt (len .content) $most -}}
{{- printf "values/invalid: %s.content has %d bytes, and a file of a machine has at most %d\nhint: Let a command of cluster.machines.pre_commands fetch it.\n" $at (len .content) $most -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := $machines.sysctls -}}
{{- if not (has (regexSplit "[./]" $name 2 | first) (list "abi" "crypto" "debug" "dev" "fs" "kernel" "net" "sunrpc" "user" "vm")) -}}
{{- printf "values/invalid: cluster.machines.sysctls has %s, which is no parameter of Linux\nhint: Its names begin with abi, crypto, debug, dev, fs, kernel, net, sunrpc, user or vm.\n" $name -}}
{{- end -}}
{{- end -}}
{{- range include "telco-cloud-init.provider" (dict "root" . "template" "settingsRefused" "context" .) | splitList " " -}}
{{- if or (and (eq . "users") $machines.users) (and (eq . "ntp.servers") ($machines.ntp | default dict).servers) -}}
{{- printf "values/invalid: cluster.machines.%s is given, but machines of %s cannot have it\nhint: Leave it out.\n" . $.Values.cluster.infra_provider -}}
{{- end -}}
{{- end -}}
{{- if and $machines.users (eq .Values.cluster.bootstrap_provider "rke2") -}}
{{- "values/invalid: cluster.machines.users is given, but RKE2's provider makes no users\nhint: Make them with cluster.machines.pre_commands, or in the image.\n" -}}
{{- end -}}
{{- end -}}
{{- end -}}
