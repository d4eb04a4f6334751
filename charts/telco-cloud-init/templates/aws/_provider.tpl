{{/* AWS's part of the interface in _providers.tpl. */}}
{{/* What AWS needs and is missing, or does not fit together. */}}
{{- define "telco-cloud-init.capa.check" -}}
{{- $aws := .Values.cluster.aws -}}
{{- if and (include "telco-cloud-init.enabled" (dict "root" . "name" "capa")) (not $aws.credentials) -}}
{{- "values/invalid: cluster.aws.credentials is empty, and the component capa is enabled. Give it the output of `clusterawsadm bootstrap credentials encode-as-profile` (Cg==, an empty profile, lets it use the role of the machine that it runs on)\n" -}}
{{- end -}}
{{- /* The message must not hold the value. */ -}}
{{- if and $aws.credentials (not (regexMatch "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" $aws.credentials)) -}}
{{- "values/invalid: cluster.aws.credentials is not base64 on one line, as `clusterawsadm bootstrap credentials encode-as-profile` prints it\n" -}}
{{- end -}}
{{- if and (include "telco-cloud-init.enabled" (dict "root" . "name" "cluster")) (eq .Values.cluster.infra_provider "capa") -}}
{{- if not $aws.region -}}
{{- "values/invalid: cluster.aws.region is empty: set AWS_REGION (or a region in the profile), or cluster.aws.region\n" -}}
{{- end -}}
{{- if not $aws.s3_bucket_name -}}
{{- "values/invalid: cluster.aws.s3_bucket_name is empty: set AWS_S3_BUCKET_NAME, or cluster.aws.s3_bucket_name, to a name that is unique in AWS and begins with cluster-api-provider-aws-; the bucket is created if it does not exist\n" -}}
{{- end -}}
{{- if ne .Values.cluster.bootstrap_format "ignition" -}}
{{- printf "values/invalid: cluster.bootstrap_format is %s, but the machines of kubeadm-capa run Flatcar, which reads ignition only\n" .Values.cluster.bootstrap_format -}}
{{- end -}}
{{- include "telco-cloud-init.checkInstanceType" (dict "at" "cluster.worker" "flavor" .Values.cluster.worker.flavor) -}}
{{- range $name, $pool := .Values.cluster.workers -}}
{{- include "telco-cloud-init.checkInstanceType" (dict "at" (printf "cluster.workers.%s" $name) "flavor" $pool.flavor) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "telco-cloud-init.checkInstanceType" -}}
{{- if and .flavor (not (regexMatch "^[a-z0-9][-a-z0-9]*\\.[-a-z0-9]+$" .flavor)) -}}
{{- printf "values/invalid: %s.flavor is %q, which is no instance type of AWS\nhint: Write it as t3.large.\n" .at .flavor -}}
{{- end -}}
{{- end -}}

{{/* The VPC that the provider makes, the API server's load balancer, and the service that tells a machine about itself. */}}
{{- define "telco-cloud-init.capa.noProxy" -}}
{{- $region := .Values.cluster.aws.region -}}
{{- $domain := ternary "amazonaws.com.cn" "amazonaws.com" (hasPrefix "cn-" $region) -}}
{{- list "10.0.0.0/16" (ternary (printf ".elb.%s.%s" $region $domain) "" (ne $region "")) "169.254.169.254" | join "," -}}
{{- end -}}

{{- define "telco-cloud-init.capa.variables" -}}
{{- if eq .name "cluster" -}}
{{- $aws := .root.Values.cluster.aws -}}
{{- $cluster := dict "AWS_REGION" (toJson $aws.region) "AWS_S3_BUCKET_NAME" (toJson $aws.s3_bucket_name) -}}
{{- merge $cluster (include "telco-cloud-init.awsMachine" .root | fromJson) | toJson -}}
{{- else -}}
{}
{{- end -}}
{{- end -}}

{{- define "telco-cloud-init.capa.secret" -}}{{- end -}}

{{/* The provider takes no empty duration: the field is there only if it is set. */}}
{{- define "telco-cloud-init.capa.patches" -}}
{{- $patches := list -}}
{{- with .Values.cluster.aws.presigned_url_duration -}}
{{- $patches = list (include "telco-cloud-init.patch" (dict "target" (dict "kind" "AWSCluster")
  "operations" (list (dict "op" "add" "path" "/spec/s3Bucket/presignedURLDuration" "value" .))) | fromJson) -}}
{{- end -}}
{{- dict "patches" $patches | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.capa.controlPlaneFiles" -}}[]{{- end -}}

{{- define "telco-cloud-init.capa.hashed" -}}
{{- dict "aws" (include "telco-cloud-init.awsMachine" .) | toJson -}}
{{- end -}}

{{/* Flatcar on AWS is set up by Ignition. The rest of it is in the definition, whose format is Ignition always. A system extension is in the same text. */}}
{{- define "telco-cloud-init.capa.ignition" -}}
{{- $fields := dict -}}
{{- if include "telco-cloud-init.kubernetesSysext" . | fromJson -}}{{- $fields = include "telco-cloud-init.flatcarFields" . | fromJson -}}{{- end -}}
{{- $updates := include "telco-cloud-init.flatcarUpdates" . | fromJson -}}
{{- dict "files" (list $updates) "commands" (include "telco-cloud-init.flatcarCommands" . | fromJsonArray) "fields" $fields | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.capa.flavor" -}}
{{- dict "kind" "AWSMachineTemplate" "spec" (dict "instanceType" .) | toJson -}}
{{- end -}}

{{- define "telco-cloud-init.capa.ignitionRefused" -}}{{- end -}}

{{- define "telco-cloud-init.capa.sysextRefused" -}}{{- end -}}

{{/* User data is in S3. */}}
{{- define "telco-cloud-init.capa.machineConfigLimit" -}}0{{- end -}}

{{- define "telco-cloud-init.capa.kubeletArguments" -}}{{- end -}}

{{- define "telco-cloud-init.capa.settingsRefused" -}}{{- end -}}

{{- define "telco-cloud-init.capa.rke2Commands" -}}{}{{- end -}}

{{- define "telco-cloud-init.capa.addressLeaves" -}}{{- end -}}

{{- define "telco-cloud-init.capa.warnings" -}}
{{- with .Values.cluster.aws.s3_bucket_name -}}
{{- if not (hasPrefix "cluster-api-provider-aws-" .) -}}
{{- printf "cluster.aws.s3_bucket_name is %s: clusterawsadm's IAM policies allow only names that begin with cluster-api-provider-aws-\n" . -}}
{{- end -}}
{{- end -}}
{{- end -}}
