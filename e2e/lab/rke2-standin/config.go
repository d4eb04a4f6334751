package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
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
	ignored                   []string // keys that stand in the file and change nothing here
}

// withoutEffect are keys that the stand-in fulfils by doing nothing: it has no cloud controller.
var withoutEffect = []string{"disable-cloud-controller", "cloud-provider-name"}

// readConfig reads config.yaml. It holds the token, so errors never quote it.
func readConfig(file string) (config, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return config{}, fmt.Errorf("read the configuration: %w", err)
	}
	cfg, err := parseConfig(content)
	if err != nil {
		return config{}, fmt.Errorf("read %s: %w", file, err)
	}
	return cfg, nil
}

// parseConfig reads the keys that the stand-in knows and lists the others as ignored. The defaults are RKE2's.
func parseConfig(content []byte) (config, error) {
	values := map[string]any{}
	if yaml.Unmarshal(content, &values) != nil {
		return config{}, errors.New("it is not a YAML mapping")
	}
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
		case !slices.Contains(withoutEffect, key):
			cfg.ignored = append(cfg.ignored, key)
		}
	}
	return cfg, nil
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
