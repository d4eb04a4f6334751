{{/* Values with characters that YAML holds only when they are escaped, which Helm does not do: all around them would be left out. */}}
{{- define "telco-cloud-init.checkText" -}}
{{- include "telco-cloud-init.checkTextAt" (dict "path" list "value" .Values) -}}
{{- end -}}

{{/* The same for .value, which is at .path. */}}
{{- define "telco-cloud-init.checkTextAt" -}}
{{- $path := .path -}}
{{- if kindIs "map" .value -}}
{{- range $key, $value := .value -}}{{- include "telco-cloud-init.checkTextAt" (dict "path" (append $path $key) "value" $value) -}}{{- end -}}
{{- else if kindIs "slice" .value -}}
{{- range $i, $value := .value -}}{{- include "telco-cloud-init.checkTextAt" (dict "path" (append $path (toString $i)) "value" $value) -}}{{- end -}}
{{- else if kindIs "string" .value -}}
{{- if regexMatch "[\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x{9F}\\x{FEFF}\\x{FFFE}\\x{FFFF}]" .value -}}
{{- printf "values/invalid: %s holds a control character\nhint: remove it; it comes along when text is copied from elsewhere\n" (join "." $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Variables that would not reach a manifest as they are given. The schema could hold the form of their names (propertyNames), but its validator
     then names another place for each (seen with the one of Helm 3.21). */}}
{{- define "telco-cloud-init.checkVariables" -}}
{{- range $name, $component := .Values.components -}}
{{- range $variable, $value := $component.substitute -}}
{{- $text := toString $value -}}
{{- if not (regexMatch "^[_A-Za-z][_A-Za-z0-9]*$" $variable) -}}
{{- printf "values/invalid: components.%s.substitute has %q, which is no name of a variable\nhint: use letters, digits and _, and no digit first\n" $name $variable -}}
{{- end -}}
{{- /* What a template becomes is known only when it is filled in. */ -}}
{{- if and (contains "\n" $text) (not (contains "{{" $text)) -}}
{{- printf "values/invalid: components.%s.substitute.%s has a line break, which Flux removes\nhint: give a text of several lines as JSON, in double quotes and with \\n for each line break\n" $name $variable -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
