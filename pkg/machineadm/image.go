package machineadm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// checkImage returns an error with all that the operating system's image lacks for the Config.
func (h Host) checkImage(c Config) error {
	var missing []string
	need := func(command, purpose string) {
		if _, err := h.find(command); err != nil {
			missing = append(missing, command+" ("+purpose+")")
		}
	}
	for _, name := range c.KernelModules {
		if loaded, err := h.exists("/sys/module/" + strings.ReplaceAll(name, "-", "_")); err != nil || !loaded {
			need("modprobe", "for kernel modules")
			break
		}
	}
	if c.CertificateAuthorities != "" {
		i := slices.IndexFunc(trustStores, func(s trustStore) bool { found, _ := h.exists(s.folder); return found })
		if i < 0 {
			missing = append(missing, "a folder for certificate authorities")
		} else {
			need(trustStores[i].command, "for certificate authorities")
		}
	}
	if c.restartsContainerd() || c.installs() {
		need("systemctl", "to start services")
	}
	if c.Containerd != nil { // a machine of kubeadm
		if _, err := h.findKubeadm(""); err != nil && !c.installs() {
			missing = append(missing, "kubeadm")
		}
		if len(c.Containerd.RegistryMirrors) > 0 {
			missing = append(missing, h.checkRegistryPath()...)
		}
		if c.Containerd.CgroupDriver != "" && !c.installs() {
			if _, _, err := h.containerdSettings(); err != nil {
				missing = append(missing, "a configuration of containerd: "+err.Error())
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s", strings.Join(missing, ", "))
	}
	return h.checkPlaces(c)
}

// isSameFile reports whether two places are one: /bin is often a link to /usr/bin.
func (h Host) isSameFile(place, other string) bool {
	first, err := os.Stat(h.at(place))
	second, otherErr := os.Stat(h.at(other))
	return place == other || err == nil && otherErr == nil && os.SameFile(first, second)
}

// checkPlaces refuses programs of the image in other places than those of the files to be installed: units and the PATH
// would start them.
func (h Host) checkPlaces(c Config) error {
	if !c.installs() {
		return nil
	}
	for _, file := range c.Kubernetes.Files {
		for _, folder := range h.programFolders() {
			place := path.Join(folder, path.Base(file.Path))
			if !file.Archive && !h.isSameFile(place, file.Path) && !slices.Contains(shims, place) &&
				isProgram(h.at(place)) {
				return fmt.Errorf("it has %s, and machineadm installs %s", place, file.Path)
			}
		}
	}
	return nil
}

// checkRegistryPath returns what keeps containerd from reading the mirrors that machineadm writes. From version 3 of
// its configuration on it reads them unless the configuration names another folder. Without a configuration in this
// place, or with one that imports others, machineadm cannot know it.
func (h Host) checkRegistryPath() (missing []string) {
	wanted := fmt.Sprintf("config_path = %q in %s", registryFolder, containerdConfig)
	content, err := os.ReadFile(h.at(containerdConfig))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var config struct {
		Version int      `toml:"version"`
		Imports []string `toml:"imports"`
		Plugins map[string]struct {
			Registry struct {
				ConfigPath string `toml:"config_path"`
			} `toml:"registry"`
		} `toml:"plugins"`
	}
	if err != nil || toml.Unmarshal(content, &config) != nil {
		return []string{wanted + ", which cannot be read"}
	}
	isDefault := config.Version >= 3 || len(config.Imports) > 0
	for _, plugin := range config.Plugins {
		if configured := plugin.Registry.ConfigPath; configured != "" {
			if slices.Contains(strings.Split(configured, ":"), registryFolder) {
				return nil
			}
			isDefault = false
		}
	}
	if isDefault {
		return nil
	}
	return []string{wanted}
}
