{{/* The infrastructure providers, in the order of their names. Nothing else outside of their folders (aws, docker, openstack) knows
     one of them. Each folder defines these templates, as telco-cloud-init.PROVIDER.TEMPLATE; all but check are asked of the
     environment's provider only. JSON is {} where there is nothing to say.

     check            problems, as validate.yaml wants them; also for a component that works for other clusters
     noProxy          what must never go through a proxy, with commas between them
     variables        {NAME: value} as JSON, for the manifests of component .name of .root
     secret           name of the Secret with more variables, for component .name of .root; empty for none
     patches          {patches: [...]} as JSON, for component cluster
     controlPlaneFiles  a JSON list of files that only control plane machines of kubeadm have
     hashed           {key: value} as JSON: more that is in the templates of machines
     flavor           {kind, spec} as JSON: the template of machines, and what makes .context their flavor; {} without flavors
     ignition         {files, commands, fields} as JSON: what kubeadm's machines need for Ignition, see machineFiles
     ignitionRefused  why machines of RKE2 cannot have Ignition; empty for no particular reason
     sysextRefused    why Ignition cannot fetch a system extension on its machines; empty if it can
     settingsRefused  keys of cluster.machines that its machines cannot have, with spaces between them
     machineConfigLimit  bytes that a configuration of machineadm may have; 0 for no limit
     kubeletArguments  arguments of kubelet that the provider's definitions set, with spaces between them
     rke2Commands     {commands: [...]} as JSON: what RKE2's machines run before all else
     addressLeaves    "true" if the API server's address is deleted with a control-plane machine, so that none may be replaced by itself
     warnings         what the user should know, one line for each */}}
{{- define "telco-cloud-init.providers" -}}
capa capd capo
{{- end -}}

{{/* Those that have a folder in the component cloud-provider. */}}
{{- define "telco-cloud-init.cloudProviders" -}}
capa capo
{{- end -}}

{{/* Template .template of the environment's provider, for .context; .root has the values. */}}
{{- define "telco-cloud-init.provider" -}}
{{- include (printf "telco-cloud-init.%s.%s" .root.Values.cluster.infra_provider .template) .context -}}
{{- end -}}

{{/* The problems that all providers have. */}}
{{- define "telco-cloud-init.checkProviders" -}}
{{- range include "telco-cloud-init.providers" . | splitList " " -}}
{{- include (printf "telco-cloud-init.%s.check" .) $ -}}
{{- end -}}
{{- end -}}
