{{/* What cluster.machines gives to all machines, see telco-cloud-init.machineFiles: {files, commands, fields} as JSON. */}}
{{- define "telco-cloud-init.machineSettings" -}}
{{- $machines := .Values.cluster.machines | default dict -}}
{{- $files := list -}}
{{- $commands := list -}}
{{- $fields := dict -}}
{{- range $machines.files -}}
{{- /* In base64: cloud-init would fill in templates, and YAML would lose a space at the beginning. */ -}}
{{- $files = append $files (dict "path" .path "owner" (.owner | default "root:root") "permissions" (.permissions | default "0644") "encoding" "base64" "content" (b64enc .content)) -}}
{{- end -}}
{{- if not (include "telco-cloud-init.machineadm" .) -}}
{{- with $machines.kernel_modules -}}
{{- $files = append $files (dict "path" "/etc/modules-load.d/90-cluster-init.conf" "owner" "root:root" "permissions" "0644" "content" (printf "%s\n" (join "\n" .))) -}}
{{- /* `exit` ends the script that cloud-init makes of all commands, and so keeps kubeadm from running. */ -}}
{{- $commands = append $commands (printf "modprobe -a %s || exit 1" (join " " .)) -}}
{{- end -}}
{{- with include "telco-cloud-init.sysctls" . | fromJson -}}
{{- $lines := list -}}
{{- range $name, $value := . -}}{{- $lines = append $lines (printf "%s = %s" $name (include "telco-cloud-init.settingText" $value)) -}}{{- end -}}
{{- $path := "/etc/sysctl.d/90-cluster-init.conf" -}}
{{- $files = append $files (dict "path" $path "owner" "root:root" "permissions" "0644" "content" (printf "%s\n" (join "\n" $lines))) -}}
{{- $commands = append $commands (printf "sysctl -p %s || exit 1" $path) -}}
{{- end -}}
{{- end -}}
{{- with $machines.pre_commands -}}{{- $commands = concat $commands . -}}{{- end -}}
{{- with concat (include "telco-cloud-init.profileCommands" . | fromJsonArray) ($machines.post_commands | default list) -}}
{{- $_ := set $fields (get (dict "kubeadm" "postKubeadmCommands" "rke2" "postRKE2Commands") $.Values.cluster.bootstrap_provider) . -}}
{{- end -}}
{{- with ($machines.ntp | default dict).servers -}}
{{- $_ := set $fields (get (dict "kubeadm" "ntp" "rke2" "agentConfig/ntp") $.Values.cluster.bootstrap_provider) (dict "enabled" true "servers" .) -}}
{{- end -}}
{{- with $machines.users -}}
{{- $users := list -}}
{{- range . -}}
{{- $user := dict "name" .name -}}
{{- with .ssh_authorized_keys -}}{{- $_ := set $user "sshAuthorizedKeys" . -}}{{- end -}}
{{- with .groups -}}{{- $_ := set $user "groups" (join ", " .) -}}{{- end -}}
{{- with .sudo -}}{{- $_ := set $user "sudo" . -}}{{- end -}}
{{- with .shell -}}{{- $_ := set $user "shell" . -}}{{- end -}}
{{- $users = append $users $user -}}
{{- end -}}
{{- $_ := set $fields "users" $users -}}
{{- end -}}
{{- dict "files" $files "commands" $commands "fields" $fields | toJson -}}
{{- end -}}

{{/* A number of YAML is a float, which would be printed as 1e+06. */}}
{{- define "telco-cloud-init.settingText" -}}
{{- ternary (int64 . | toString) (toString .) (kindIs "float64" .) -}}
{{- end -}}
