package machineadm

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	if c.restartsContainerd() {
		need("systemctl", "to restart containerd")
	}
	if c.Containerd != nil && len(c.Containerd.RegistryMirrors) > 0 {
		if err := h.checkRegistryPath(); err != nil {
			missing = append(missing, err.Error())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s", strings.Join(missing, ", "))
	}
	return nil
}

// checkRegistryPath checks that containerd reads the mirrors that machineadm writes. It cannot know that if
// containerd's configuration imports other files.
func (h Host) checkRegistryPath() error {
	wanted := fmt.Sprintf("config_path = %q in %s", registryFolder, containerdConfig)
	content, err := os.ReadFile(h.at(containerdConfig))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New(wanted)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", wanted, err)
	}
	var config struct {
		Imports []string `toml:"imports"`
		Plugins map[string]struct {
			Registry struct {
				ConfigPath string `toml:"config_path"`
			} `toml:"registry"`
		} `toml:"plugins"`
	}
	if err := toml.Unmarshal(content, &config); err != nil {
		return fmt.Errorf("%s, which is not TOML", wanted)
	}
	for _, plugin := range config.Plugins {
		if slices.Contains(strings.Split(plugin.Registry.ConfigPath, ":"), registryFolder) {
			return nil
		}
	}
	if len(config.Imports) > 0 {
		return nil
	}
	return errors.New(wanted)
}
