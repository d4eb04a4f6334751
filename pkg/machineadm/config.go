package machineadm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/unpack"
)

// APIVersion is the version of MachineConfig and MachineReport.
const APIVersion = "machineadm.cluster-init.io/v1alpha1"

const (
	// ConfigKind is the kind of a Config.
	ConfigKind = "MachineConfig"
	// ConfigPath is where a machine has its Config.
	ConfigPath = "/etc/machineadm/machine.yaml"
)

// maxConfigBytes is far above what a cloud gives a machine as user data.
const maxConfigBytes = 1 << 20

// Config says what a machine needs before kubeadm or RKE2 runs. docs/reference/machineconfig.schema.json is its schema.
type Config struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// KernelModules are loaded now and at each boot.
	KernelModules []string `json:"kernelModules,omitempty"`
	// Sysctls are kernel parameters by name. They are set after the modules are loaded.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	// CertificateAuthorities are PEM certificates that the operating system shall trust.
	CertificateAuthorities string `json:"certificateAuthorities,omitempty"`
	// Proxy is for containerd and the kubelet.
	Proxy      *Proxy      `json:"proxy,omitempty"`
	Containerd *Containerd `json:"containerd,omitempty"`
	Kubernetes *Kubernetes `json:"kubernetes,omitempty"`
	Files      []File      `json:"files,omitempty"`
	// StaticPods are for control-plane machines only: kubeadm refuses to join a worker that has some.
	StaticPods []StaticPod `json:"staticPods,omitempty"`
}

// Proxy has the URLs of proxies, which may hold a login.
type Proxy struct {
	HTTP  string `json:"http,omitempty"`
	HTTPS string `json:"https,omitempty"`
	// NoProxy has hosts, domains and networks with commas between them.
	NoProxy string `json:"noProxy,omitempty"`
}

// Containerd configures containerd.
type Containerd struct {
	// CgroupDriver is systemd, which kubeadm gives the kubelet. Empty leaves the image's.
	CgroupDriver string `json:"cgroupDriver,omitempty"`
	// RegistryMirrors are written to /etc/containerd/certs.d.
	RegistryMirrors []RegistryMirror `json:"registryMirrors,omitempty"`
}

// Kubernetes says which release the machine is to have.
type Kubernetes struct {
	// Version is that of kubeadm, such as v1.36.4.
	Version string `json:"version"`
	// Mirror is an address that serves Files by digest, as the blobs of a registry. Empty means their own URLs.
	Mirror string `json:"mirror,omitempty"`
	// Files are installed first. Without any, the image has them.
	Files []KubernetesFile `json:"files,omitempty"`
}

// KubernetesFile is a program of a release, or an archive of programs.
type KubernetesFile struct {
	// Path is that of the program. For an archive (tar.gz) it is the folder that gets the programs.
	Path    string `json:"path"`
	Archive bool   `json:"archive,omitempty"`
	// Sources has an entry for each architecture: amd64, arm64.
	Sources map[string]Source `json:"sources"`
}

// Source is where a file comes from.
type Source struct {
	URL string `json:"url"`
	// SHA256 is the digest of what the URL serves, in hexadecimal.
	SHA256 string `json:"sha256"`
}

// from returns the source in a mirror. An empty mirror leaves it.
func (s Source) from(mirror string) Source {
	if mirror != "" {
		s.URL = strings.TrimSuffix(mirror, "/") + "/sha256:" + s.SHA256
	}
	return s
}

// RegistryMirror is a registry to pull the images of another one from.
type RegistryMirror struct {
	// Host is that of the original registry. _default stands for all that have no mirror.
	Host string `json:"host"`
	URL  string `json:"url"`
	// Only reports that the original registry is not a fallback.
	Only bool `json:"only,omitempty"`
	// OverridePath reports that the URL is the root of the registry's API, without /v2.
	OverridePath bool `json:"overridePath,omitempty"`
	SkipVerify   bool `json:"skipVerify,omitempty"`
	// CA are PEM certificates that verify the mirror's.
	CA string `json:"ca,omitempty"`
}

// File is written before kubeadm runs.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	// Mode is octal, as in "0644". Empty is "0600".
	Mode string `json:"mode,omitempty"`
}

// StaticPod is a Pod that the kubelet runs without an API server.
type StaticPod struct {
	Name string `json:"name"`
	// Content is the Pod's manifest.
	Content string `json:"content"`
}

// Load reads and checks the Config in a file.
func Load(path string) (Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fault.Wrap(fmt.Errorf("read the configuration of the machine: %w", err), fault.ValuesInvalid,
			"Write a MachineConfig to "+path+".")
	}
	config, err := Parse(content)
	if err != nil {
		return config, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

// Parse reads and checks a Config. The error has all problems.
func Parse(content []byte) (Config, error) {
	var config Config
	if len(content) > maxConfigBytes {
		return config, fault.New(fault.ValuesInvalid, fmt.Sprintf("the file has %d bytes", len(content)),
			fmt.Sprintf("Leave at most %d bytes.", maxConfigBytes))
	}
	if err := decode(content, &config); err != nil {
		return config, fault.Wrap(fmt.Errorf("not a MachineConfig: %w", err), fault.ValuesInvalid,
			"Write it by the schema of "+APIVersion+".")
	}
	return config, config.check()
}

// decode reads YAML. It takes no number for a text: 1e6 would become another text.
func decode(content []byte, config *Config) error {
	if err := unpack.YAML(content); err != nil {
		return err
	}
	text, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(config)
}
