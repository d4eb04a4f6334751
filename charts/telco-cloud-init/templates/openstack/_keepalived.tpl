{{/* keepalived, for mode vip: a static Pod of each control plane machine. One of the machines whose API server is ready has the address. All are equal,
     so that a machine that comes back does not take it away. */}}

{{- define "telco-cloud-init.keepalivedFolder" -}}
{{- "/etc/cluster-init.io/keepalived" -}}
{{- end -}}

{{- define "telco-cloud-init.keepalivedManifest" -}}/etc/kubernetes/manifests/keepalived.yaml{{- end -}}

{{/* Files that only control plane machines have, as a JSON list. */}}
{{- define "telco-cloud-init.capo.controlPlaneFiles" -}}
{{- $files := list -}}
{{- if eq .Values.cluster.openstack.api_server.mode "vip" -}}
{{- $folder := include "telco-cloud-init.keepalivedFolder" . -}}
{{- $files = list
  (dict "path" (printf "%s/start" $folder) "owner" "root:root" "permissions" "0755" "content" (include "telco-cloud-init.keepalivedStart" .))
  (dict "path" (printf "%s/check" $folder) "owner" "root:root" "permissions" "0755" "content" (include "telco-cloud-init.keepalivedCheck" .))
  (dict "path" (printf "%s/keepalived.conf" $folder) "owner" "root:root" "permissions" "0644" "content" (include "telco-cloud-init.keepalivedConfiguration" .))
  (dict "path" (include "telco-cloud-init.keepalivedManifest" .) "owner" "root:root" "permissions" "0600" "content" (include "telco-cloud-init.keepalivedPod" .)) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* Starts keepalived at the interface that the kernel would reach the address through: the longest prefix. The kernel lists the better of two equal
     routes first, and addresses in the byte order of amd64 and arm64, from the last number to the first. */}}
{{- define "telco-cloud-init.keepalivedStart" -}}
{{- $address := .Values.cluster.openstack.api_server.fixed_ip -}}
{{- $bytes := list -}}
{{- range splitList "." $address | reverse -}}{{- $bytes = append $bytes (printf "%02X" (atoi .)) -}}{{- end -}}
#!/bin/sh
# cluster-init: starts keepalived at the interface that leads to {{ $address }}.
set -u
routes=$1
address=0x{{ join "" $bytes }}
lead() {
  interface='' longest=-1
  while read -r name to _ _ _ _ _ mask _; do
    case $name in Iface | '*') continue ;; esac
    if test "$(($address & 0x$mask))" -eq "$((0x$to))" && test "$((0x$mask))" -gt "$longest"; then
      interface=$name longest=$((0x$mask))
    fi
  done <"$routes"
  test -n "$interface"
}
left=60
until lead; do
  left=$((left - 1))
  if test "$left" -eq 0; then
    echo "no route leads to {{ $address }}" >&2
    exit 1
  fi
  sleep 1
done
configuration=$(mktemp) || exit 1
sed "s/@INTERFACE@/$interface/" "$(dirname "$0")/keepalived.conf" >"$configuration" || exit 1
exec keepalived --vrrp --dont-fork --log-console --use-file "$configuration"
{{ end -}}

{{/* An API server that has lost its etcd is not ready. The port is that of kubeadm and CAPO, which no definition changes. */}}
{{- define "telco-cloud-init.keepalivedCheck" -}}
#!/bin/sh
# cluster-init: is the API server of this machine ready?
exec curl --silent --output /dev/null --fail --insecure --noproxy '*' --max-time 2 https://127.0.0.1:6443/readyz
{{ end -}}

{{/* A machine whose check fails twice gives the address away, after 6 s at most; the others miss a machine that is gone after 4 s. */}}
{{- define "telco-cloud-init.keepalivedConfiguration" -}}
{{- $api := .Values.cluster.openstack.api_server -}}
# cluster-init: the start script fills in the interface.
global_defs {
  script_user root
  enable_script_security
}
vrrp_script api_server {
  script {{ include "telco-cloud-init.keepalivedFolder" . }}/check
  interval 1
  timeout 3
  fall 2
  rise 2
  init_fail
}
vrrp_instance api_server {
  state BACKUP
  nopreempt
  interface @INTERFACE@
  virtual_router_id {{ include "telco-cloud-init.vrrpRouterID" . }}
  priority 100
  advert_int 1
  virtual_ipaddress {
    {{ $api.fixed_ip }}/32
  }
  track_script {
    api_server
  }
}
{{ end -}}

{{/* Each cluster of a subnet needs a number of its own. */}}
{{- define "telco-cloud-init.vrrpRouterID" -}}
{{- $api := .Values.cluster.openstack.api_server -}}
{{- int $api.vrrp_router_id | default (splitList "." $api.fixed_ip | last | atoi) -}}
{{- end -}}

{{/* As JSON, which is YAML too: so the image stays a text. keepalived adds addresses, sends packets of its own protocol, and drops the groups of its
     scripts; it needs no other capability. */}}
{{- define "telco-cloud-init.keepalivedPod" -}}
{{- $folder := include "telco-cloud-init.keepalivedFolder" . -}}
{{- $container := dict "name" "keepalived" "image" .Values.cluster.openstack.api_server.keepalived_image "imagePullPolicy" "IfNotPresent"
  "command" (list "/bin/sh" (printf "%s/start" $folder) "/proc/net/route")
  "resources" (dict "requests" (dict "cpu" "10m" "memory" "32Mi"))
  "securityContext" (dict "allowPrivilegeEscalation" false "capabilities" (dict "drop" (list "ALL") "add" (list "NET_ADMIN" "NET_RAW" "SETGID")))
  "volumeMounts" (list (dict "name" "configuration" "mountPath" $folder "readOnly" true)) -}}
{{- dict "apiVersion" "v1" "kind" "Pod"
  "metadata" (dict "name" "keepalived" "namespace" "kube-system" "labels" (dict "component" "keepalived" "tier" "control-plane"))
  "spec" (dict "hostNetwork" true "priorityClassName" "system-node-critical" "enableServiceLinks" false
    "securityContext" (dict "seccompProfile" (dict "type" "RuntimeDefault"))
    "containers" (list $container)
    "volumes" (list (dict "name" "configuration" "hostPath" (dict "path" $folder "type" "Directory")))) | toPrettyJson -}}
{{- "\n" -}}
{{- end -}}

{{/* What mode vip needs, and does not fit together. */}}
{{- define "telco-cloud-init.checkVirtualAddress" -}}
{{- $openstack := .Values.cluster.openstack -}}
{{- $api := $openstack.api_server -}}
{{- if ne .Values.cluster.bootstrap_provider "kubeadm" -}}
{{- printf "values/invalid: cluster.openstack.api_server.mode is vip, but cluster.bootstrap_provider is %s: only kubeadm's machines run keepalived\nhint: use mode fixed-ip, and have something of yours answer at the address\n" .Values.cluster.bootstrap_provider -}}
{{- end -}}
{{- if not $openstack.network -}}
{{- "values/invalid: cluster.openstack.api_server.mode is vip, but network is empty: the address is reserved before a network would be made\nhint: set cluster.openstack.network to an id or a name that `openstack network list` prints\n" -}}
{{- end -}}
{{- if not $api.keepalived_image -}}
{{- "values/invalid: cluster.openstack.api_server.mode is vip, but keepalived_image is empty\nhint: set cluster.openstack.api_server.keepalived_image to an image with keepalived, sh and curl that the machines can pull without a login\n" -}}
{{- end -}}
{{- if $api.fixed_ip -}}
{{- $valid := true -}}
{{- range splitList "." $api.fixed_ip -}}{{- if gt (atoi .) 255 -}}{{- $valid = false -}}{{- end -}}{{- end -}}
{{- if not $valid -}}
{{- printf "values/invalid: cluster.openstack.api_server.fixed_ip is %s, which is not an IPv4 address\nhint: set it to a free address of the machines' subnet\n" $api.fixed_ip -}}
{{- else if eq (include "telco-cloud-init.vrrpRouterID" .) "0" -}}
{{- printf "values/invalid: cluster.openstack.api_server.vrrp_router_id is 0, but the last number of fixed_ip %s is no number of a virtual router\nhint: set vrrp_router_id to a number from 1 to 255 that nothing else in the subnet has\n" $api.fixed_ip -}}
{{- end -}}
{{- end -}}
{{- $manifest := include "telco-cloud-init.keepalivedManifest" . -}}
{{- range $i, $file := (.Values.cluster.machines | default dict).files -}}
{{- if eq $file.path $manifest -}}
{{- printf "values/invalid: cluster.machines.files[%d].path is %s, which cluster-init writes in mode vip\nhint: choose another place\n" $i $manifest -}}
{{- end -}}
{{- end -}}
{{- range $i, $pod := (.Values.cluster.machineadm | default dict).static_pods -}}
{{- if eq $pod.name "keepalived" -}}
{{- printf "values/invalid: cluster.machineadm.static_pods[%d].name is keepalived, which cluster-init makes in mode vip\nhint: choose another name\n" $i -}}
{{- end -}}
{{- end -}}
{{- end -}}
