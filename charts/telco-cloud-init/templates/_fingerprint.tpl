{{/* A short hash of secret .text, to see that it has changed. Without secret_fingerprint_key no guess can be verified with it.
     "unknown" without that key: then a change is not seen. */}}
{{- define "telco-cloud-init.fingerprint" -}}
{{- $key := .root.Values.secret_fingerprint_key -}}
{{- if $key -}}{{- printf "%s\n%s" $key .text | sha256sum | trunc 8 -}}{{- else -}}unknown{{- end -}}
{{- end -}}
