{{/* What AWS needs and is missing, or does not fit together. */}}
{{- define "telco-cloud-init.checkAWS" -}}
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
{{- "values/invalid: cluster.aws.s3_bucket_name is empty: set AWS_S3_BUCKET_NAME, or cluster.aws.s3_bucket_name, to a name that nobody else in AWS has and that begins with cluster-api-provider-aws-; the bucket is made when it is not there\n" -}}
{{- end -}}
{{- if ne .Values.cluster.bootstrap_format "ignition" -}}
{{- printf "values/invalid: cluster.bootstrap_format is %s, but the machines of kubeadm-capa run Flatcar, which reads ignition only\n" .Values.cluster.bootstrap_format -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What is in the templates of AWS machines, {NAME: value} as JSON. Each value is JSON itself: it is substituted into
     a manifest, where an empty string must stay one, and a number of an account as well. */}}
{{- define "telco-cloud-init.awsMachine" -}}
{{- $aws := .Values.cluster.aws -}}
{{- $image := dict -}}
{{- with .Values.cluster.image -}}{{- $image = dict "id" . -}}{{- end -}}
{{- dict
  "AWS_AMI" (toJson $image)
  "AWS_CONTROL_PLANE_IAM_INSTANCE_PROFILE" (toJson $aws.control_plane_iam_instance_profile)
  "AWS_CONTROL_PLANE_MACHINE_TYPE" (toJson $aws.control_plane_machine_type)
  "AWS_IMAGE_LOOKUP_BASE_OS" (toJson $aws.image_lookup_base_os)
  "AWS_IMAGE_LOOKUP_FORMAT" (toJson $aws.image_lookup_format)
  "AWS_IMAGE_LOOKUP_ORG" (toJson $aws.image_lookup_org)
  "AWS_ROOT_VOLUME_SIZE" (toJson $aws.root_volume_size)
  "AWS_SSH_KEY_NAME" (toJson $aws.ssh_key_name)
  "AWS_WORKER_IAM_INSTANCE_PROFILE" (toJson $aws.worker_iam_instance_profile)
  "AWS_WORKER_MACHINE_TYPE" (toJson $aws.worker_machine_type)
| toJson -}}
{{- end -}}

{{/* The above and what only the cluster needs. */}}
{{- define "telco-cloud-init.awsVariables" -}}
{{- $cluster := dict "AWS_REGION" (toJson .Values.cluster.aws.region) "AWS_S3_BUCKET_NAME" (toJson .Values.cluster.aws.s3_bucket_name) -}}
{{- merge $cluster (include "telco-cloud-init.awsMachine" . | fromJson) | toJson -}}
{{- end -}}
