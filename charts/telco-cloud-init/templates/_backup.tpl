{{/* Backups of the management cluster on a schedule: component backup, a CronJob in the namespace of the cluster's definition. */}}

{{/* Expression for a field of a schedule whose numbers are .number and whose names are .names. */}}
{{- define "telco-cloud-init.scheduleField" -}}
{{- $value := .number -}}
{{- with .names -}}{{- $value = printf "(%s|(?i:%s))" $.number . -}}{{- end -}}
{{- $item := printf "([*?]|%s(-%s)?)(/[1-9][0-9]*)?" $value $value -}}
{{- printf "^%s(,%s)*$" $item $item -}}
{{- end -}}

{{/* Expressions for the five fields of a schedule, by their names in order, as JSON. */}}
{{- define "telco-cloud-init.scheduleFields" -}}
{{- $months := "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec" -}}
{{- list
  (dict "name" "minute" "number" "[0-5]?[0-9]")
  (dict "name" "hour" "number" "([01]?[0-9]|2[0-3])")
  (dict "name" "day of the month" "number" "(0?[1-9]|[12][0-9]|3[01])")
  (dict "name" "month" "number" "(0?[1-9]|1[0-2])" "names" $months)
  (dict "name" "day of the week" "number" "0?[0-6]" "names" "sun|mon|tue|wed|thu|fri|sat")
| toJson -}}
{{- end -}}

{{/* "true" when a backup has a snapshot of etcd. `restore --etcd` is for kubeadm. */}}
{{- define "telco-cloud-init.backupEtcd" -}}
{{- $etcd := .Values.cluster.backup.etcd -}}
{{- if not (kindIs "bool" $etcd) -}}{{- $etcd = eq .Values.cluster.bootstrap_provider "kubeadm" -}}{{- end -}}
{{- if $etcd -}}true{{- end -}}
{{- end -}}

{{/* {patches: [...]} as JSON that add what is a list or any text: the recipients without their comments, and the volume. */}}
{{- define "telco-cloud-init.backupPatches" -}}
{{- $pod := "/spec/jobTemplate/spec/template/spec" -}}
{{- $operations := list -}}
{{- range .Values.cluster.backup.recipients -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/containers/0/args/-" $pod)
  "value" (printf "--recipient=%s" (regexFind "^(ssh-[a-z0-9]+ )?[^ ]+" (trim .)))) -}}
{{- end -}}
{{- if include "telco-cloud-init.backupEtcd" . -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/containers/0/args/-" $pod) "value" "--etcd") -}}
{{- end -}}
{{- $operations = append $operations (dict "op" "add" "path" (printf "%s/volumes/-" $pod)
  "value" (merge (dict "name" "backups") (deepCopy .Values.cluster.backup.volume))) -}}
{{- $target := dict "kind" "CronJob" "name" "cluster-init-backup" -}}
{{- dict "patches" (list (include "telco-cloud-init.patch" (dict "target" $target "operations" $operations) | fromJson)) | toJson -}}
{{- end -}}

{{/* Backups that could not be made, or that no key opens. No message repeats a recipient: it may be a private key. */}}
{{- define "telco-cloud-init.checkBackup" -}}
{{- $enabled := toString (.Values.components.backup | default dict).enabled -}}
{{- if has $enabled (list "bootstrap-only" "workload-only") -}}
{{- printf "values/invalid: components.backup.enabled is %s, and backups on a schedule are for the management cluster\nhint: Set it to management-only. A backup of the management cluster has the definitions of its workload clusters.\n" $enabled -}}
{{- else if and (has $enabled (list "true" "management-only")) (ne .Values.phase "workload") -}}
{{- $backup := .Values.cluster.backup -}}
{{- $image := $backup.image -}}
{{- if not $image -}}
{{- "values/invalid: cluster.backup.image is empty: the component backup runs cluster-init from it\nhint: Copy the image of the release to a registry that the machines reach, and set cluster.backup.image=HOST/cluster-init:VERSION.\n" -}}
{{- else if not (regexMatch "^[a-z0-9][A-Za-z0-9._:/-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|@sha256:[0-9a-f]{64})$" (regexReplaceAll "^[^/]*/" $image "host/")) -}}
{{- printf "values/invalid: cluster.backup.image is %q, which is not an image with a tag or a digest\nhint: Write it as HOST/cluster-init:VERSION.\n" $image -}}
{{- end -}}
{{- if not $backup.recipients -}}
{{- "values/invalid: cluster.backup.recipients is empty: a backup holds the private keys of the cluster, and is never written unencrypted\nhint: Make a key pair with age-keygen, keep its private key apart from the backups, and set its public key: cluster.backup.recipients={age1...}.\n" -}}
{{- end -}}
{{- range $i, $recipient := $backup.recipients -}}
{{- if regexMatch "(?i)AGE-SECRET-KEY-|PRIVATE KEY" $recipient -}}
{{- printf "values/invalid: cluster.backup.recipients[%d] is a private key: it must be nowhere near the backups that it opens\nhint: Create another key pair, and set its public key: age-keygen -y FILE prints it.\n" $i -}}
{{- else if not (regexMatch "^(age1[a-z0-9]+|ssh-(ed25519|rsa) [A-Za-z0-9+/]+=*( [^\\n\\r]*)?)$" (trim $recipient)) -}}
{{- printf "values/invalid: cluster.backup.recipients[%d] is not a public key of age, ssh-ed25519 or ssh-rsa\nhint: Use the public key itself, not a file. For age, age-keygen -y FILE prints it: it begins with age1.\n" $i -}}
{{- end -}}
{{- end -}}
{{- include "telco-cloud-init.checkBackupVolume" . -}}
{{- $fields := regexSplit "\\s+" (trim $backup.schedule) -1 -}}
{{- if or (ne (len $fields) 5) (not (trim $backup.schedule)) -}}
{{- printf "values/invalid: cluster.backup.schedule is %q, which has not five fields\nhint: Write minute, hour, day of the month, month and day of the week, in UTC, for example \"17 3 * * *\" for each night.\n" $backup.schedule -}}
{{- else -}}
{{- range $i, $field := include "telco-cloud-init.scheduleFields" . | fromJsonArray -}}
{{- if not (regexMatch (include "telco-cloud-init.scheduleField" $field) (index $fields $i)) -}}
{{- printf "values/invalid: cluster.backup.schedule is %q, and %q is not a valid %s\nhint: Write minute, hour, day of the month, month and day of the week, in UTC, for example \"17 3 * * *\" for each night.\n" $backup.schedule (index $fields $i) $field.name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A volume that no backup could be written to, or that ends with the Pod. */}}
{{- define "telco-cloud-init.checkBackupVolume" -}}
{{- $volume := .Values.cluster.backup.volume | default dict -}}
{{- $kinds := list "csi" "fc" "hostPath" "iscsi" "nfs" "persistentVolumeClaim" -}}
{{- $hint := "Set the volume of a Pod that outlives the cluster, for example cluster.backup.volume.nfs.server=HOST and cluster.backup.volume.nfs.path=/PATH." -}}
{{- if not $volume -}}
{{- printf "values/invalid: cluster.backup.volume is empty: the component backup has no place for backups\nhint: %s\n" $hint -}}
{{- else if gt (len $volume) 1 -}}
{{- printf "values/invalid: cluster.backup.volume has %s, and a volume is of one kind\nhint: Leave all but one out.\n" (keys $volume | sortAlpha | join " and ") -}}
{{- else -}}
{{- range $kind, $source := $volume -}}
{{- if has $kind (list "emptyDir" "ephemeral") -}}
{{- printf "values/invalid: cluster.backup.volume is of kind %s: the backups would be deleted with their Pod\nhint: %s\n" $kind $hint -}}
{{- else if not (has $kind $kinds) -}}
{{- printf "values/invalid: cluster.backup.volume is of kind %s, which is not one of %s\nhint: %s\n" $kind (join ", " $kinds) $hint -}}
{{- else if not (and (kindIs "map" $source) $source) -}}
{{- printf "values/invalid: cluster.backup.volume.%s is not a map with fields\nhint: %s\n" $kind $hint -}}
{{- else if $source.readOnly -}}
{{- printf "values/invalid: cluster.backup.volume.%s.readOnly is true: no backup could be written\nhint: Leave it out.\n" $kind -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What the owner of backups should know. */}}
{{- define "telco-cloud-init.backupWarnings" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "backup") -}}
{{- $kind := keys .Values.cluster.backup.volume | first -}}
{{- if eq $kind "hostPath" -}}
{{- "cluster.backup.volume is a folder of a machine (hostPath): if the machine is lost, so are the backups on it; each machine has only those that were made on it\n" -}}
{{- end -}}
{{- $admission := (include "telco-cloud-init.kubernetes" . | fromJson).admission | default dict -}}
{{- $security := $admission.pod_security | default dict -}}
{{- $level := $security.enforce | default "" -}}
{{- $refused := get (dict "restricted" (list "fc" "hostPath" "iscsi" "nfs") "baseline" (list "hostPath")) $level | default list -}}
{{- if and (has $kind $refused) (not (has .Values.cluster.namespace ($security.exempt_namespaces | default list))) -}}
{{- printf "cluster.backup.volume is of kind %s, which the Pod security level %s refuses: no backup is made, unless namespace %s has a label with another level\n" $kind $level .Values.cluster.namespace -}}
{{- end -}}
{{- end -}}
{{- end -}}
