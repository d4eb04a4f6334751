package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"
)

// config is what the stand-in takes from RKE2's config.yaml.
type config struct {
	token, server             string
	nodeName, nodeIP          string
	advertiseAddress          string
	clusterCIDR, serviceCIDR  string // two of them are joined by a comma
	clusterDomain             string
	nodePortRange             string
	tlsSan, cni, disable      []string
	nodeLabels, nodeTaints    []string
	kubeletArgs               []string
	apiServerArgs, etcdArgs   []string
	controllerArgs, schedArgs []string
	disableKubeProxy          bool
	onlyMirrors               bool     // the original registry of a mirror is not asked
	ignored                   []string // keys that stand in the file and change nothing here
}

// withoutEffect are keys that the stand-in fulfils by doing nothing: it has no cloud controller, and no ingress
// controller.
var withoutEffect = []string{"disable-cloud-controller", "cloud-provider-name", "ingress-controller"}

// readConfig reads config.yaml and the files of config.yaml.d, of which the last one wins. They hold the token, so
// errors never quote them.
func readConfig(file string) (config, error) {
	further, err := filepath.Glob(filepath.Join(file+".d", "*.yaml"))
	if err != nil {
		return config{}, fmt.Errorf("list the further configuration: %w", err)
	}
	values := map[string]any{}
	for _, name := range append([]string{file}, further...) {
		content, err := os.ReadFile(name)
		if err != nil {
			return config{}, fmt.Errorf("read the configuration: %w", err)
		}
		if yaml.Unmarshal(content, &values) != nil { // into the same map: keys that are there already are replaced
			return config{}, fmt.Errorf("read %s: it is not a YAML mapping", name)
		}
	}
	return parseConfig(values), nil
}

// parseConfig takes the keys that the stand-in knows and lists the others as ignored. The defaults are RKE2's.
func parseConfig(values map[string]any) config {
	cfg := config{clusterDomain: "cluster.local", clusterCIDR: "10.42.0.0/16", serviceCIDR: "10.43.0.0/16"}
	texts := map[string]*string{
		"token": &cfg.token, "server": &cfg.server, "node-name": &cfg.nodeName, "node-ip": &cfg.nodeIP,
		"advertise-address": &cfg.advertiseAddress, "cluster-cidr": &cfg.clusterCIDR, "service-cidr": &cfg.serviceCIDR,
		"cluster-domain": &cfg.clusterDomain, "service-node-port-range": &cfg.nodePortRange,
	}
	lists := map[string]*[]string{
		"tls-san": &cfg.tlsSan, "cni": &cfg.cni, "disable": &cfg.disable,
		"node-label": &cfg.nodeLabels, "node-taint": &cfg.nodeTaints, "kubelet-arg": &cfg.kubeletArgs,
		"kube-apiserver-arg": &cfg.apiServerArgs, "kube-controller-manager-arg": &cfg.controllerArgs,
		"kube-scheduler-arg": &cfg.schedArgs, "etcd-arg": &cfg.etcdArgs,
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		switch text, list := texts[key], lists[key]; {
		case text != nil:
			*text = fmt.Sprint(values[key])
		case list != nil:
			*list = asList(values[key])
		case key == "disable-kube-proxy":
			cfg.disableKubeProxy = values[key] == true
		case key == "disable-default-registry-endpoint":
			cfg.onlyMirrors = values[key] == true
		case !slices.Contains(withoutEffect, key):
			cfg.ignored = append(cfg.ignored, key)
		}
	}
	return cfg
}

// asList makes a list of a value that RKE2 takes as a list or as a single text.
func asList(value any) []string {
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	}
	var list []string
	for _, each := range values {
		list = append(list, fmt.Sprint(each))
	}
	return list
}
