package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// registries is RKE2's registries.yaml, in the fields that CAPRKE2 writes.
type registries struct {
	Mirrors map[string]struct {
		Endpoint []string          `json:"endpoint"`
		Rewrite  map[string]string `json:"rewrite"`
	} `json:"mirrors"`
	Configs map[string]registryConfig `json:"configs"`
}

// registryConfig says how one registry is reached.
type registryConfig struct {
	Auth *struct {
		Username      string `json:"username"`
		Password      string `json:"password"`
		Auth          string `json:"auth"` // USERNAME:PASSWORD in base64
		IdentityToken string `json:"identitytoken"`
	} `json:"auth"`
	TLS *struct {
		CAFile             string `json:"ca_file"`
		CertFile           string `json:"cert_file"`
		KeyFile            string `json:"key_file"`
		InsecureSkipVerify bool   `json:"insecure_skip_verify"`
	} `json:"tls"`
}

// writeRegistries turns registries.yaml, if there is one, into containerd's hosts.toml files. containerd reads them
// with every pull. They may hold passwords, so only root reads them. With only, the original registry of a mirror is
// not asked.
func writeRegistries(p paths, only bool) error {
	content, err := os.ReadFile(p.registries())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the registries: %w", err)
	}
	files, err := hostsFiles(content, only)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.registries(), err)
	}
	for _, host := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(filepath.Join(p.certsD(), host, "hosts.toml"), []byte(files[host])); err != nil {
			return err
		}
	}
	return nil
}

// hostsFiles returns the hosts.toml of each registry host.
func hostsFiles(content []byte, only bool) (map[string]string, error) {
	var all registries
	if yaml.Unmarshal(content, &all) != nil {
		// may hold passwords: not quoted
		return nil, errors.New("it is not what RKE2 takes: mirrors and configs, by host")
	}
	files := map[string]string{}
	for host, mirror := range all.Mirrors {
		if len(mirror.Rewrite) > 0 {
			return nil, fmt.Errorf("the mirror of %s has rewrite rules: containerd knows none; give endpoints with a "+
				"path", host)
		}
		text := ""
		for i, endpoint := range mirror.Endpoint {
			// The last one takes the place of the original registry, which containerd calls the server.
			server := only && i == len(mirror.Endpoint)-1
			entry, err := all.hostEntry(endpoint, server)
			if err != nil {
				return nil, fmt.Errorf("the mirror of %s: %w", host, err)
			}
			if server { // what is not below a [host] comes first
				text = entry + text
			} else {
				text += entry
			}
		}
		files[folderOf(host)] = text
	}
	for host := range all.Configs {
		if _, mirrored := all.Mirrors[host]; mirrored && only {
			continue
		}
		entry, err := all.hostEntry(origin(host), false)
		if err != nil {
			return nil, fmt.Errorf("the configuration of %s: %w", host, err)
		}
		// After its mirrors, as the host itself is asked last; unless it is named as a mirror already.
		header, _, _ := strings.Cut(entry, "\n")
		if folder := folderOf(host); !strings.Contains(files[folder], header) {
			files[folder] += entry
		}
	}
	return files, nil
}

// hostEntry is the part of a hosts.toml for one endpoint, which is the server or one of the hosts that are asked before
// it. An endpoint with a path is the root of the API as it stands.
func (r registries) hostEntry(endpoint string, server bool) (string, error) {
	address, err := url.Parse(endpoint)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return "", errors.New("its endpoint is not a URL such as https://mirror.example:5000")
	}
	first, headers := fmt.Sprintf("[host.%q]", endpoint), fmt.Sprintf("  [host.%q.header]", endpoint)
	if server {
		first, headers = fmt.Sprintf("server = %q", endpoint), "  [header]"
	}
	lines := []string{first, `  capabilities = ["pull", "resolve"]`}
	if strings.Trim(address.Path, "/") != "" {
		lines = append(lines, "  override_path = true")
	}
	config, known := r.Configs[address.Host]
	if !known && endpoint == origin(dockerHub) {
		config = r.Configs[dockerHub]
	}
	if config.TLS != nil {
		lines = append(lines, tlsLines(config)...)
	}
	if config.Auth != nil {
		header, err := basicAuth(config)
		if err != nil {
			return "", err
		}
		lines = append(lines, headers, fmt.Sprintf("    Authorization = [%q]", header))
	}
	return strings.Join(lines, "\n") + "\n", nil
}

func tlsLines(config registryConfig) (lines []string) {
	if config.TLS.InsecureSkipVerify {
		lines = append(lines, "  skip_verify = true")
	}
	if config.TLS.CAFile != "" {
		lines = append(lines, fmt.Sprintf("  ca = [%q]", config.TLS.CAFile))
	}
	if config.TLS.CertFile != "" {
		lines = append(lines, fmt.Sprintf("  client = [[%q, %q]]", config.TLS.CertFile, config.TLS.KeyFile))
	}
	return lines
}

// basicAuth returns the header that logs in.
func basicAuth(config registryConfig) (string, error) {
	switch auth := config.Auth; {
	case auth.Username != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(auth.Username+":"+auth.Password)), nil
	case auth.Auth != "":
		return "Basic " + auth.Auth, nil
	}
	return "", errors.New("its auth has no username: the stand-in logs in by username and password only")
}

// dockerHub is the one registry that has another address than its name.
const dockerHub = "docker.io"

// origin is where containerd finds a registry that has no mirror.
func origin(host string) string {
	if host == dockerHub {
		return "https://registry-1.docker.io"
	}
	return "https://" + host
}

// folderOf is the folder of a registry in certs.d.
func folderOf(host string) string {
	if host == "*" {
		return "_default"
	}
	return filepath.Base(host)
}
