{{/* machineadm, which prepares a machine before kubeadm or RKE2 runs: see pkg/machineadm. Its configuration and its start script are in a Secret, see
     machine-secrets.yaml. All templates are empty, or {}, when cluster.machineadm is not enabled. */}}

{{- define "telco-cloud-init.machineadm" -}}
{{- if (.Values.cluster.machineadm | default dict).enabled -}}true{{- end -}}
{{- end -}}

{{- define "telco-cloud-init.machineadmSecret" -}}
{{- include "telco-cloud-init.called" (dict "root" . "name" "telco-cloud-init-machineadm") -}}
{{- end -}}

{{/* The key of the configuration of machines that .kind makes. */}}
{{- define "telco-cloud-init.machineadmKey" -}}
{{- ternary "control-plane.yaml" "worker.yaml" (eq .kind (include "telco-cloud-init.controlPlaneKind" .root)) -}}
{{- end -}}

{{/* The MachineConfig of machines that .kind makes, as JSON. */}}
{{- define "telco-cloud-init.machineConfig" -}}
{{- $values := .root.Values.cluster -}}
{{- $settings := $values.machineadm -}}
{{- $config := dict "apiVersion" "machineadm.cluster-init.io/v1alpha1" "kind" "MachineConfig" -}}
{{- with ($values.machines | default dict).kernel_modules -}}{{- $_ := set $config "kernelModules" . -}}{{- end -}}
{{- $sysctls := dict -}}
{{- range $name, $value := include "telco-cloud-init.sysctls" .root | fromJson -}}{{- $_ := set $sysctls $name (include "telco-cloud-init.settingText" $value) -}}{{- end -}}
{{- if eq $values.kubernetes_source "boot" -}}
{{- /* kubeadm demands it; images that have Kubernetes set it. */ -}}
{{- $sysctls = merge $sysctls (dict "net.ipv4.ip_forward" "1") -}}
{{- end -}}
{{- with $sysctls -}}{{- $_ := set $config "sysctls" . -}}{{- end -}}
{{- with $values.trusted_cas -}}{{- $_ := set $config "certificateAuthorities" . -}}{{- end -}}
{{- if eq $values.bootstrap_provider "kubeadm" -}}
{{- with include "telco-cloud-init.proxyVariables" .root -}}
{{- $variables := fromJson . -}}
{{- $proxy := dict "noProxy" $variables.NO_PROXY -}}
{{- with $variables.HTTP_PROXY -}}{{- $_ := set $proxy "http" . -}}{{- end -}}
{{- with $variables.HTTPS_PROXY -}}{{- $_ := set $proxy "https" . -}}{{- end -}}
{{- $_ := set $config "proxy" $proxy -}}
{{- end -}}
{{- $containerd := dict -}}
{{- with $settings.cgroup_driver -}}{{- $_ := set $containerd "cgroupDriver" . -}}{{- end -}}
{{- $mirrors := list -}}
{{- range $values.registry_mirrors -}}
{{- $mirror := dict "host" .host "url" .url -}}
{{- if .only -}}{{- $_ := set $mirror "only" true -}}{{- end -}}
{{- if .override_path -}}{{- $_ := set $mirror "overridePath" true -}}{{- end -}}
{{- if .skip_verify -}}{{- $_ := set $mirror "skipVerify" true -}}{{- end -}}
{{- with .ca -}}{{- $_ := set $mirror "ca" . -}}{{- end -}}
{{- $mirrors = append $mirrors $mirror -}}
{{- end -}}
{{- with $mirrors -}}{{- $_ := set $containerd "registryMirrors" . -}}{{- end -}}
{{- $_ := set $config "containerd" $containerd -}}
{{- $kubernetes := dict "version" (splitList "+" $values.kubernetes_version | first) -}}
{{- with include "telco-cloud-init.kubernetesFiles" .root | fromJsonArray -}}
{{- $_ := set $kubernetes "files" . -}}
{{- with $values.kubernetes_mirror -}}{{- $_ := set $kubernetes "mirror" . -}}{{- end -}}
{{- end -}}
{{- $_ := set $config "kubernetes" $kubernetes -}}
{{- end -}}
{{- if eq .kind (include "telco-cloud-init.controlPlaneKind" .root) -}}
{{- $files := list -}}
{{- range (include "telco-cloud-init.apiServer" .root | fromJson).files -}}
{{- if not (hasKey . "contentFrom") -}}{{- $files = append $files (dict "path" .path "mode" .permissions "content" (b64dec .content)) -}}{{- end -}}
{{- end -}}
{{- with $files -}}{{- $_ := set $config "files" . -}}{{- end -}}
{{- with $settings.static_pods -}}{{- $_ := set $config "staticPods" . -}}{{- end -}}
{{- end -}}
{{- toJson $config -}}
{{- end -}}

{{/* What identifies it and the binary, without the logins of proxies; empty when machineadm is not enabled. The places of files count: `up` replaces
     a first machine that could not fetch one when its template changes. */}}
{{- define "telco-cloud-init.machineadmDigest" -}}
{{- if include "telco-cloud-init.machineadm" .root -}}
{{- $config := include "telco-cloud-init.machineConfig" . | fromJson -}}
{{- if $config.proxy -}}
{{- $variables := include "telco-cloud-init.proxyVariables" .root | fromJson -}}
{{- $_ := set $config "proxy" (include "telco-cloud-init.proxiesVersion" (dict "root" .root "variables" $variables)) -}}
{{- end -}}
{{- $settings := .root.Values.cluster.machineadm -}}
{{- list $config $settings.source $settings.sha256 | toJson | sha256sum | trunc 8 -}}
{{- end -}}
{{- end -}}

{{/* {files, commands} as JSON that machines of .kind have first. The command names the configuration, so that machines are replaced when it changes. */}}
{{- define "telco-cloud-init.machineadmMachine" -}}
{{- with include "telco-cloud-init.machineadmDigest" . -}}
{{- $secret := include "telco-cloud-init.machineadmSecret" $.root -}}
{{- $files := list
  (dict "path" "/etc/machineadm/start" "owner" "root:root" "permissions" "0700" "encoding" "base64"
    "contentFrom" (dict "secret" (dict "name" $secret "key" "start")))
  (dict "path" "/etc/machineadm/machine.yaml" "owner" "root:root" "permissions" "0600" "encoding" "base64"
    "contentFrom" (dict "secret" (dict "name" $secret "key" (include "telco-cloud-init.machineadmKey" $)))) -}}
{{- $commands := list -}}
{{- if eq $.root.Values.cluster.bootstrap_provider "kubeadm" -}}
{{- /* Flatcar's /usr is read-only; in the script of Ignition's kubeadm.service a variable stays for the commands after it. */ -}}
{{- $ignition := eq $.root.Values.cluster.bootstrap_format "ignition" -}}
{{- $files = append $files (dict "path" (ternary "/opt/machineadm/bin/kubeadm" "/usr/local/sbin/kubeadm" $ignition) "owner" "root:root" "permissions" "0755"
  "content" "#!/bin/sh\n# cluster-init: kubeadm runs only on a machine that machineadm has prepared.\nMACHINEADM_SHIM=$0 exec /opt/machineadm/bin/machineadm kubeadm \"$@\"\n") -}}
{{- $installs := gt (include "telco-cloud-init.kubernetesFiles" $.root | fromJsonArray | len) 0 -}}
{{- if $ignition -}}{{- $commands = list (printf "export PATH=/opt/machineadm/bin:%s$PATH" (ternary "/opt/bin:" "" $installs)) -}}{{- end -}}
{{- end -}}
{{- /* `exit` ends the script that cloud-init makes of all commands. */ -}}
{{- $commands = append $commands (printf "/bin/sh /etc/machineadm/start %s || exit 1" .) -}}
{{- dict "files" $files "commands" $commands | toJson -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{/* The script that gets machineadm and starts it. It reports a failure as machineadm does. */}}
{{- define "telco-cloud-init.machineadmStart" -}}
{{- $settings := .Values.cluster.machineadm -}}
{{- $address := $settings.source -}}
{{- if hasPrefix "oci://" $address -}}
{{- /* A registry serves a blob by its digest. */ -}}
{{- $parts := regexSplit "/" (trimPrefix "oci://" $address) 2 -}}
{{- $address = printf "https://%s/v2/%s/blobs/sha256:${digest}" (first $parts) (last $parts) -}}
{{- end -}}
#!/bin/sh
# cluster-init: gets machineadm from {{ ternary "the image" "its source" (eq $settings.source "image") }}, verifies its digest, and starts it.
set -u
report=/run/cluster-api/machineadm.json
program=/opt/machineadm/bin/machineadm
failed() {
  # Without logins in addresses, which curl repeats.
  text=$(printf %s "$1" | sed 's#://[^ ]*@#://#g' | tr -c 'A-Za-z0-9 ._:/@,=+()-' ' ' | cut -c -400)
  mkdir -p /run/cluster-api
  printf '{"apiVersion":"machineadm.cluster-init.io/v1alpha1","kind":"MachineReport","started":"%s","result":"failed","steps":[{"name":"get machineadm","result":"failed","error":"%s","seconds":0}]}\n' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$text" >"$report"
  line="machineadm[v1]: failed: get machineadm: $text"
  echo "$line" >&2
  (logger -t machineadm "$line") 2>/dev/null
  echo "$line" | timeout 2 tee /dev/console >/dev/null 2>&1
  rm -f "$program.new"
  exit 1
}
# A machine of a former template must not get another version of Kubernetes.
{{- $digests := list -}}
{{- range $kind, $_ := include "telco-cloud-init.machineKinds" . | fromJson -}}
{{- $digests = append $digests (include "telco-cloud-init.machineadmDigest" (dict "root" $ "kind" $kind)) -}}
{{- end }}
case "${1-}" in
{{ $digests | uniq | sortAlpha | join "|" }}) ;;
*) failed "the machine is of a former template, and the configuration is newer: delete the Machine when the definition has changed" ;;
esac
case $(uname -m) in
x86_64) arch=amd64 digest={{ (get $settings.sha256 "amd64") | default "" | squote }} ;;
aarch64) arch=arm64 digest={{ (get $settings.sha256 "arm64") | default "" | squote }} ;;
*) failed "there is none for $(uname -m)" ;;
esac
mkdir -p /opt/machineadm/bin || failed "the folder /opt/machineadm/bin cannot be made"
{{- if eq $settings.source "image" }}
place=$(command -v machineadm) || failed "the image has none"
cp "$place" "$program.new" || failed "$place cannot be copied"
{{- else }}
place="{{ $address | replace "{arch}" "${arch}" }}"
test -n "$digest" || failed "cluster.machineadm.sha256 has no digest for $arch"
{{- if hasPrefix "file://" $address }}
cp "${place#file://}" "$program.new" || failed "$place cannot be copied"
{{- else }}
{{- with include "telco-cloud-init.proxyVariables" . }}
{{- range $name, $value := fromJson . }}
export {{ lower $name }}='{{ $value | replace "'" "'\\''" }}'
{{- end }}
{{- end }}
{{- with .Values.cluster.trusted_cas }}
# The machine trusts them only later: machineadm does that.
cat /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt >/opt/machineadm/cas.pem 2>/dev/null
cat >>/opt/machineadm/cas.pem <<'PEM'
{{ trimSuffix "\n" . }}
PEM
export CURL_CA_BUNDLE=/opt/machineadm/cas.pem
{{- end }}
end=$(($(date +%s) + 90))
until answer=$(curl -gfsSL --connect-timeout 10 --max-time 120 -o "$program.new" "$place" 2>&1); do
  test "$(date +%s)" -lt "$end" || failed "$place: $(printf %s "$answer" | tail -n 1)"
  sleep 2
done
{{- end }}
{{- end }}
actual=$(sha256sum "$program.new" | cut -d ' ' -f 1)
test -z "$digest" || test "$actual" = "$digest" || failed "the digest of $place is $actual, want $digest"
chmod 755 "$program.new" && mv "$program.new" "$program" || failed "$program cannot be written"
"$program" version >/dev/null 2>&1 || failed "$place does not run on this machine"
exec "$program" prepare
{{ end -}}

{{/* Places that machineadm writes, as a JSON list, besides its own folders; and those of a system extension in place of its files. */}}
{{- define "telco-cloud-init.machineadmPaths" -}}
{{- $paths := list "/usr/local/sbin/kubeadm" -}}
{{- range .Values.cluster.registry_mirrors -}}
{{- $folder := printf "/etc/containerd/certs.d/%s" .host -}}
{{- $paths = append $paths (printf "%s/hosts.toml" $folder) -}}
{{- $paths = append $paths (printf "%s/ca.pem" $folder) -}}
{{- end -}}
{{- range list "containerd" "kubelet" -}}{{- $paths = append $paths (printf "/etc/systemd/system/%s.service.d/http-proxy.conf" .) -}}{{- end -}}
{{- range include "telco-cloud-init.kubernetesFiles" . | fromJsonArray -}}{{- $paths = append $paths .path -}}{{- end -}}
{{- $storage := include "telco-cloud-init.sysextStorage" . | fromJson -}}
{{- range concat ($storage.files | default list) ($storage.links | default list) -}}{{- $paths = append $paths .path -}}{{- end -}}
{{- range .Values.cluster.machineadm.static_pods -}}{{- $paths = append $paths (printf "/etc/kubernetes/manifests/%s.yaml" .name) -}}{{- end -}}
{{- toJson $paths -}}
{{- end -}}

{{/* Values of cluster.machineadm that do not go together. */}}
{{- define "telco-cloud-init.checkMachineadm" -}}
{{- $settings := .Values.cluster.machineadm | default dict -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- if include "telco-cloud-init.machineadm" . -}}
{{- if and (ne $settings.source "image") (not $settings.sha256) -}}
{{- printf "values/invalid: cluster.machineadm.sha256 is empty, but machines fetch machineadm from %s\nhint: Write the digest that `sha256sum` prints, as amd64 or arm64.\n" $settings.source -}}
{{- end -}}
{{- $limit := include "telco-cloud-init.provider" (dict "root" . "template" "machineConfigLimit" "context" .) | int -}}
{{- range $kind, $_ := include "telco-cloud-init.machineKinds" . | fromJson -}}
{{- $args := dict "root" $ "kind" $kind -}}
{{- $size := include "telco-cloud-init.machineConfig" $args | len -}}
{{- if and $limit (gt $size $limit) -}}
{{- printf "values/invalid: cluster.machineadm: %s has %d bytes, and the user data of a machine of %s has room for %d\nhint: Make the files of cluster.kubernetes, cluster.trusted_cas or cluster.machineadm.static_pods shorter.\n" (include "telco-cloud-init.machineadmKey" $args) $size $.Values.cluster.infra_provider $limit -}}
{{- end -}}
{{- end -}}
{{- if and (eq .Values.cluster.bootstrap_provider "rke2") (or $settings.static_pods $settings.cgroup_driver) -}}
{{- printf "values/invalid: cluster.machineadm.%s is given, but RKE2 has its own containerd and static Pods\nhint: Leave it out.\n" (ternary "static_pods" "cgroup_driver" (gt (len $settings.static_pods) 0)) -}}
{{- end -}}
{{- else if or $settings.static_pods $settings.cgroup_driver -}}
{{- printf "values/invalid: cluster.machineadm.%s is given, but cluster.machineadm.enabled is false\nhint: Set it to true, or leave the value out.\n" (ternary "static_pods" "cgroup_driver" (gt (len $settings.static_pods) 0)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
