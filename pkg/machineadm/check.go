package machineadm

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

var (
	moduleName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	sysctlName  = regexp.MustCompile(`^[a-z0-9_-]+([./][A-Za-z0-9_-]+)+$`)
	hostName    = regexp.MustCompile(`^(_default|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?)$`)
	fileMode    = regexp.MustCompile(`^0?[0-7]{3}$`)
	versionText = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+$`)
	digest      = regexp.MustCompile(`^[0-9a-f]{64}$`)
	podName     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// ownPods are the static Pods that kubeadm writes.
var ownPods = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}

// foreignFolders are written by the kernel, by Cluster API, kubeadm or by machineadm itself.
var foreignFolders = []string{"/dev", "/proc", "/sys", "/run/cluster-api", "/run/kubeadm", "/etc/machineadm",
	"/opt/machineadm",
	"/etc/kubernetes/pki", staticPodFolder}

// problems collects what is wrong with a Config.
type problems []error

func (p *problems) add(at, format string, args ...any) {
	*p = append(*p, fault.New(fault.ValuesInvalid, at+": "+fmt.Sprintf(format, args...), ""))
}

// check returns all problems of the Config.
func (c Config) check() error {
	var p problems
	if c.APIVersion != APIVersion {
		p.add("apiVersion", "is %q, want %s", c.APIVersion, APIVersion)
	}
	if c.Kind != ConfigKind {
		p.add("kind", "is %q, want %s", c.Kind, ConfigKind)
	}
	for i, name := range c.KernelModules {
		if !moduleName.MatchString(name) {
			p.add(fmt.Sprintf("kernelModules[%d]", i), "%q is not the name of a kernel module", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Sysctls)) {
		if !sysctlName.MatchString(name) {
			p.add("sysctls", "%q is not the name of a kernel parameter", name)
		}
		if value := c.Sysctls[name]; value == "" || strings.ContainsAny(value, "\n\r\x00") {
			p.add("sysctls."+name, "the value is empty or has a line break")
		}
	}
	if c.CertificateAuthorities != "" {
		p.certificates("certificateAuthorities", c.CertificateAuthorities)
	}
	if c.Proxy != nil {
		p.proxy(*c.Proxy)
	}
	if c.Containerd != nil {
		p.containerd(*c.Containerd)
	}
	if c.Kubernetes != nil {
		p.kubernetes(*c.Kubernetes)
	}
	p.files(c.Files)
	p.staticPods(c.StaticPods)
	return fault.Join(p...)
}

// certificates checks PEM certificates. The message must not hold them.
func (p *problems) certificates(at, text string) {
	count, rest := 0, []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			p.add(at, "holds a block %q, want CERTIFICATE", block.Type)
			return
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			p.add(at, "certificate %d: %v", count+1, err)
			return
		}
		count++
	}
	if count == 0 || strings.TrimSpace(string(rest)) != "" {
		p.add(at, "is not a list of PEM certificates")
	}
}

func (p *problems) proxy(proxy Proxy) {
	if proxy.HTTP == "" && proxy.HTTPS == "" {
		p.add("proxy", "has neither http nor https")
	}
	if proxy.HTTP != "" {
		p.url("proxy.http", proxy.HTTP)
	}
	if proxy.HTTPS != "" {
		p.url("proxy.https", proxy.HTTPS)
	}
	if strings.ContainsAny(proxy.NoProxy, "\n\r\"\\") {
		p.add("proxy.noProxy", "has a line break, a quotation mark or a backslash")
	}
}

// url checks an address. The message must not hold it, because it can have a login.
func (p *problems) url(at, text string) {
	if u, err := url.Parse(text); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" ||
		strings.ContainsAny(text, "\n\r\"\\ ") {
		p.add(at, "is not a URL of http or https")
	}
}

func (p *problems) containerd(c Containerd) {
	if d := c.CgroupDriver; d != "" && d != driverSystemd {
		p.add("containerd.cgroupDriver", "is %q, want %s", d, driverSystemd)
	}
	var hosts []string
	for i, mirror := range c.RegistryMirrors {
		at := fmt.Sprintf("containerd.registryMirrors[%d]", i)
		if !hostName.MatchString(mirror.Host) || strings.Contains(mirror.Host, "..") {
			p.add(at+".host", "%q is not a host of a registry", mirror.Host)
		}
		if slices.Contains(hosts, mirror.Host) {
			p.add(at+".host", "%q has a mirror already", mirror.Host)
		}
		hosts = append(hosts, mirror.Host)
		p.url(at+".url", mirror.URL)
		if mirror.CA != "" {
			p.certificates(at+".ca", mirror.CA)
		}
	}
}

func (p *problems) kubernetes(k Kubernetes) {
	if !versionText.MatchString(k.Version) {
		p.add("kubernetes.version", "%q is not a version such as v1.36.4", k.Version)
	}
	if k.Mirror != "" {
		p.url("kubernetes.mirror", k.Mirror)
	}
	var paths []string
	for i, file := range k.Files {
		at := fmt.Sprintf("kubernetes.files[%d]", i)
		p.path(at+".path", file.Path)
		if slices.Contains(shims, file.Path) || slices.Contains(paths, file.Path) {
			p.add(at+".path", "%s is that of another file, or of the shim of kubeadm", file.Path)
		}
		paths = append(paths, file.Path)
		if len(file.Sources) == 0 {
			p.add(at+".sources", "is empty")
		}
		for _, arch := range slices.Sorted(maps.Keys(file.Sources)) {
			if !slices.Contains(architectures, arch) {
				p.add(at+".sources", "has %q, want %s", arch, strings.Join(architectures, " or "))
			}
			p.url(at+".sources."+arch+".url", file.Sources[arch].URL)
			if !digest.MatchString(file.Sources[arch].SHA256) {
				p.add(at+".sources."+arch+".sha256", "is not a SHA-256 in hexadecimal digits")
			}
		}
	}
}

// architectures are those that machineadm is built for, in Go's words.
var architectures = []string{"amd64", "arm64"}

// path checks the place of a file.
func (p *problems) path(at, place string) {
	switch {
	case !path.IsAbs(place) || path.Clean(place) != place || place == "/":
		p.add(at, "%q is not an absolute path without . and ..", place)
	case slices.ContainsFunc(foreignFolders, func(folder string) bool {
		return place == folder || strings.HasPrefix(place, folder+"/")
	}):
		p.add(at, "%s is a place that the kernel, Cluster API, kubeadm or machineadm writes", place)
	}
}

func (p *problems) files(files []File) {
	var paths []string
	for i, file := range files {
		at := fmt.Sprintf("files[%d].path", i)
		p.path(at, file.Path)
		if slices.Contains(paths, file.Path) {
			p.add(at, "%s is that of another file", file.Path)
		}
		paths = append(paths, file.Path)
		if file.Mode != "" && !fileMode.MatchString(file.Mode) {
			p.add(fmt.Sprintf("files[%d].mode", i), "%q is not an octal mode such as 0644", file.Mode)
		}
	}
}

func (p *problems) staticPods(pods []StaticPod) {
	var names []string
	for i, pod := range pods {
		at := fmt.Sprintf("staticPods[%d]", i)
		switch {
		case !podName.MatchString(pod.Name):
			p.add(at+".name", "%q is not the name of a Pod", pod.Name)
		case slices.Contains(ownPods, pod.Name):
			p.add(at+".name", "%s is a Pod of kubeadm", pod.Name)
		case slices.Contains(names, pod.Name):
			p.add(at+".name", "%s is that of another static Pod", pod.Name)
		}
		names = append(names, pod.Name)
		if err := checkPod(pod.Content); err != nil {
			p.add(at+".content", "%v", err)
		}
	}
}

// checkPod checks what the kubelet would silently ignore. Its errors must not hold the content.
func checkPod(content string) error {
	var pod struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec struct {
			Containers []any `json:"containers"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(content), &pod); err != nil {
		return errors.New("is not YAML of a Pod")
	}
	switch {
	case pod.APIVersion != "v1" || pod.Kind != "Pod":
		return fmt.Errorf("is %s %s, want v1 Pod", pod.APIVersion, pod.Kind)
	case slices.Contains(ownPods, pod.Metadata.Name):
		return fmt.Errorf("metadata.name %s is a Pod of kubeadm", pod.Metadata.Name)
	case pod.Metadata.Name == "":
		return errors.New("has no metadata.name")
	case len(pod.Spec.Containers) == 0:
		return errors.New("has no spec.containers")
	}
	return nil
}
