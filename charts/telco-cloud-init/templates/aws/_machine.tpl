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
