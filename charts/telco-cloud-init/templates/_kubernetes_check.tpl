{{/* Arguments that something else sets, by component: the chart, the definitions, kubeadm, RKE2 or Cluster API. */}}
{{- define "telco-cloud-init.takenArguments" -}}
{{- $both := "authentication-kubeconfig|authorization-kubeconfig|bind-address|client-ca-file|config|kubeconfig|leader-elect|requestheader-.*|secure-port|tls-(cert|private-key)-file" -}}
{{- dict
  "api_server" "advertise-address|allow-privileged|anonymous-auth|api-audiences|authorization-(mode|config)|bind-address|client-ca-file|egress-selector-config-file|enable-bootstrap-token-auth|etcd-.*|kubelet-(certificate-authority|client-.*|preferred-address-types)|proxy-client-.*|requestheader-.*|secure-port|service-account-(issuer|jwks-uri|key-file|signing-key-file)|service-cluster-ip-range|storage-backend|tls-(cert|private-key)-file"
  "controller_manager" (printf "%s|allocate-node-cidrs|cloud-provider|cluster-(cidr|name)|cluster-signing-.*|controllers|root-ca-file|service-account-private-key-file|service-cluster-ip-range|use-service-account-credentials" $both)
  "scheduler" $both
  "kubelet" "address|bootstrap-kubeconfig|cert-dir|client-ca-file|cloud-provider|cluster-(dns|domain)|config|config-dir|container-runtime-endpoint|fail-cgroupv1|hostname-override|image-credential-provider-.*|kubeconfig|node-ip|node-labels|pod-manifest-path|provider-id|register-node|register-with-taints|root-dir"
| toJson -}}
{{- end -}}

{{/* Settings of cluster.kubernetes that stand for arguments of the API server. */}}
{{- define "telco-cloud-init.settingOfArgument" -}}
{{- range $setting, $arguments := dict "audit_policy" "audit-(policy-file|log-path)" "encryption_at_rest" "encryption-provider-config.*" "oidc" "oidc-.*|authentication-config" "admission" "(en|dis)able-admission-plugins|admission-control-config-file" -}}
{{- if regexMatch (printf "^(%s)$" $arguments) $.name -}}{{- $setting -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Settings that no control plane and no kubelet could have. */}}
{{- define "telco-cloud-init.checkKubernetes" -}}
{{- if include "telco-cloud-init.enabled" (dict "root" . "name" "cluster") -}}
{{- $kubernetes := include "telco-cloud-init.kubernetes" . | fromJson -}}
{{- $taken := include "telco-cloud-init.takenArguments" . | fromJson -}}
{{- $provider := include "telco-cloud-init.provider" (dict "root" . "template" "kubeletArguments" "context" .) | splitList " " -}}
{{- range $component, $names := $taken -}}
{{- range $name, $value := (get $kubernetes $component | default dict).extra_args -}}
{{- $at := printf "cluster.kubernetes.%s.extra_args" $component -}}
{{- $setting := "" -}}
{{- if eq $component "api_server" -}}{{- $setting = include "telco-cloud-init.settingOfArgument" (dict "name" $name) -}}{{- end -}}
{{- if $setting -}}
{{- printf "values/invalid: %s has %s, which cluster.kubernetes.%s stands for\nhint: Use that.\n" $at $name $setting -}}
{{- else if or (regexMatch (printf "^(%s)$" $names) $name) (and (eq $component "kubelet") (has $name $provider)) -}}
{{- printf "values/invalid: %s has %s, which cluster-init or the bootstrap provider sets\nhint: Leave it out.\n" $at $name -}}
{{- else if and (ne $component "kubelet") (eq $.Values.cluster.bootstrap_provider "kubeadm") (regexMatch "^/" (toString $value)) -}}
{{- printf "values/invalid: %s has %s with a file, which the component's pod does not see\nhint: Leave it out, or write a definition of your own with extraVolumes.\n" $at $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $settings := include "telco-cloud-init.kubernetesSettings" . | fromJson -}}
{{- if and $settings (or .Values.components.cluster.repo (not (include "telco-cloud-init.definition" . | fromJson).lists)) -}}
{{- printf "values/invalid: cluster.kubernetes is given, but it is not known which lists the definition components.cluster.path has\nhint: Write these settings into the definition, or describe it in charts/telco-cloud-init/definitions.json.\n" -}}
{{- end -}}
{{- range ((get $settings (include "telco-cloud-init.controlPlaneKind" .) | default dict).lists | default dict).files -}}
{{- if gt (len (.content | default "")) 10240 -}}
{{- printf "values/invalid: cluster.kubernetes makes %s, which is too large: a file of a machine has at most 7680 bytes\nhint: Make it shorter.\n" .path -}}
{{- end -}}
{{- end -}}
{{- include "telco-cloud-init.checkAPIServer" (dict "kubernetes" $kubernetes "rke2" (eq .Values.cluster.bootstrap_provider "rke2")) -}}
{{- end -}}
{{- end -}}

{{- define "telco-cloud-init.checkAPIServer" -}}
{{- $oidc := .kubernetes.oidc | default dict -}}
{{- if and $oidc.issuer_url (not $oidc.client_id) -}}
{{- "values/invalid: cluster.kubernetes.oidc.issuer_url is given without client_id\nhint: Set both.\n" -}}
{{- end -}}
{{- if and (not $oidc.issuer_url) (or $oidc.client_id $oidc.ca $oidc.username_claim $oidc.username_prefix $oidc.groups_claim $oidc.groups_prefix) -}}
{{- "values/invalid: cluster.kubernetes.oidc is given without issuer_url\nhint: Set both issuer_url and client_id.\n" -}}
{{- end -}}
{{- range $i, $rule := (.kubernetes.audit_policy | default dict).rules -}}
{{- if and .nonResourceURLs (or .resources .namespaces) -}}
{{- printf "values/invalid: cluster.kubernetes.audit_policy.rules[%d] has nonResourceURLs next to resources or namespaces\nhint: Write two rules.\n" $i -}}
{{- end -}}
{{- end -}}
{{- $admission := .kubernetes.admission | default dict -}}
{{- $security := $admission.pod_security | default dict -}}
{{- if and $security.exempt_namespaces (not (or $security.enforce $security.audit $security.warn)) -}}
{{- "values/invalid: cluster.kubernetes.admission.pod_security has exempt_namespaces, but no level\nhint: Set enforce, audit or warn.\n" -}}
{{- end -}}
{{- range $admission.disabled_plugins -}}
{{- if or (has . ($admission.plugins | default list)) (eq . "NodeRestriction") (and (eq . "PodSecurity") $admission.pod_security) -}}
{{- printf "values/invalid: cluster.kubernetes.admission.disabled_plugins has %s, which is needed\nhint: Leave it out.\n" . -}}
{{- end -}}
{{- end -}}
{{- $encryption := .kubernetes.encryption_at_rest | default dict -}}
{{- $names := list -}}
{{- range $encryption.keys -}}
{{- if has .name $names -}}
{{- printf "values/invalid: cluster.kubernetes.encryption_at_rest.keys has %s twice\nhint: Give each key a name of its own.\n" .name -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- if and .rke2 $names -}}
{{- "values/invalid: cluster.kubernetes.encryption_at_rest is given, but RKE2 encrypts Secrets with a key of its own\nhint: Leave it out.\n" -}}
{{- end -}}
{{- end -}}
