package environment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// folderKustomization makes the three objects of an environment from the files of Folder.
const folderKustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
generatorOptions:
  disableNameSuffixHash: true
configMapGenerator:
  - name: ` + ValuesName + `
    files: [values.yaml]
secretGenerator:
  - name: ` + SecretsName + `
    files: [values.yaml=secrets.yaml]
  - name: ` + InfraSecretsName + `
    files: [values.yaml=infra-secrets.yaml]
`

// Folder returns the files of a folder that holds the environment with the values that a cluster gets, by name. It
// loads there without any variable, file or flag. secret are the files with the values of the two Secrets.
func (e *Environment) Folder() (public, secret map[string][]byte, err error) {
	files := map[string][]byte{}
	for name, values := range map[string]map[string]any{OwnValuesFile: e.stored.values,
		OwnSecretsFile: e.stored.secrets, "infra-secrets.yaml": e.stored.infraSecrets} {
		text, err := yaml.Marshal(values)
		if err != nil {
			return nil, nil, fmt.Errorf("write the values of environment %s: %w", e.Name(), err)
		}
		files[name] = bytes.ReplaceAll(text, []byte("${"), []byte("$${")) // no variable is filled in again
	}
	public = map[string][]byte{"kustomization.yaml": []byte(folderKustomization), OwnValuesFile: files[OwnValuesFile]}
	delete(files, OwnValuesFile)
	return public, files, nil
}

// MachineFile is a file of a machine, by its absolute path.
type MachineFile struct{ Path, Content string }

// MachineFiles returns what a machine of the user's own needs to pull images as the cluster's machines do with kubeadm:
// mirrors, trusted certificates, proxies and logins. secret are the files with proxies and logins. The commands, for a
// shell, come after the files and before a restart of containerd.
func (e *Environment) MachineFiles() (public, secret []MachineFile, commands []string, err error) {
	for _, template := range []string{"kubeadmMachine", "machineTrust"} {
		var machine struct {
			Files    []MachineFile
			Commands []string
		}
		if err := e.decodeTemplate(template, &machine); err != nil {
			return nil, nil, nil, err
		}
		for _, f := range machine.Files {
			mirror := strings.HasPrefix(f.Path, "/etc/containerd/certs.d/")
			if f.Content != "" && (mirror || template == "machineTrust") { // no content: in a Secret, see below
				public = append(public, f)
			}
		}
		if template == "machineTrust" {
			commands = slices.DeleteFunc(machine.Commands, func(c string) bool {
				return strings.Contains(c, "systemctl")
			})
		}
	}
	login, err := e.DockerConfig()
	if err != nil {
		return nil, nil, nil, err
	}
	if login != nil {
		secret = append(secret, MachineFile{"/var/lib/kubelet/config.json", string(login)})
	}
	if e.spec.Proxies.HTTP != "" || e.spec.Proxies.HTTPS != "" {
		var proxies map[string]string
		if err := e.decodeTemplate("kubeadmProxyFiles", &proxies); err != nil {
			return nil, nil, nil, err
		}
		const containerd = "/etc/systemd/system/containerd.service.d/http-proxy.conf"
		secret = append(secret, MachineFile{containerd, proxies[containerd]})
	}
	return public, secret, commands, nil
}

// decodeTemplate reads the JSON of a named template.
func (e *Environment) decodeTemplate(name string, into any) error {
	text, err := e.renderTemplate(Bootstrap, name)
	if err == nil {
		err = json.Unmarshal([]byte(text), into)
	}
	if err != nil {
		return fmt.Errorf("read what machines need from the chart (%s): %w", name, err)
	}
	return nil
}
