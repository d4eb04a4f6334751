package cli

import (
	"os"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/vm"
)

// Where a machine has what its source needs.
const (
	vmSourceCA     = "/etc/cluster-init/source-ca.pem"
	vmSSHKey       = "/etc/cluster-init/source-key"
	vmKnownHosts   = "/etc/cluster-init/source-known-hosts"
	vmDockerFolder = "/etc/cluster-init/docker"
)

// sourceOn gives a machine the flags, files and logins of the source. check must have passed.
func (o *sourceOptions) sourceOn(env *environment.Environment, m *vm.Machine) error {
	add := func(flag, value string) {
		if value != "" {
			m.Up = append(m.Up, flag, value)
		}
	}
	_, commit := o.commitGiven()
	for _, f := range []struct{ flag, value string }{
		{"--source", o.kind}, {"--source-url", o.url}, {"--source-branch", o.branch}, {"--source-commit", commit},
		{"--source-tag", o.tag}, {"--source-semver", o.semver}, {"--source-content-tag", o.contentTag},
		{"--source-chart-tag", o.chartTag}, {"--source-content-digest", o.contentDigest},
		{"--source-chart-digest", o.chartDigest},
	} {
		add(f.flag, f.value)
	}
	if o.insecure {
		m.Up = append(m.Up, "--source-insecure")
	}
	ca, err := o.ca()
	if err != nil {
		return err
	}
	if ca != nil {
		m.Files = append(m.Files, vm.File{Path: vmSourceCA, Content: string(ca)})
		add("--source-ca-file", vmSourceCA)
	}
	if source.Kind(o.kind) == source.OCI {
		return o.registryLoginOn(m)
	}
	return o.gitLoginOn(env, m)
}

func (o *sourceOptions) registryLoginOn(m *vm.Machine) error {
	login, err := dockerConfig(strings.TrimPrefix(strings.TrimSuffix(o.url, "/"), "oci://"))
	if err == nil && login != nil {
		m.Secrets = append(m.Secrets, vm.File{Path: vmDockerFolder + "/config.json", Content: string(login)})
		m.Variables["DOCKER_CONFIG"] = vmDockerFolder
	}
	return err
}

func (o *sourceOptions) gitLoginOn(env *environment.Environment, m *vm.Machine) error {
	address, overSSH := source.GitAddress(o.url)
	if !overSSH {
		if user, token := o.gitLogin(env, address); token != "" {
			m.Variables[gitUser], m.Variables[gitToken] = user, token
		}
		return nil
	}
	passphrase := os.Getenv(sshPassphrase)
	key, err := source.ReadSSHKey(o.sshKey, o.knownHosts, passphrase)
	if err != nil {
		return err
	}
	m.Secrets = append(m.Secrets, vm.File{Path: vmSSHKey, Content: string(key.Identity)})
	m.Files = append(m.Files, vm.File{Path: vmKnownHosts, Content: string(key.KnownHosts)})
	m.Up = append(m.Up, "--source-ssh-key", vmSSHKey, "--source-known-hosts", vmKnownHosts)
	if passphrase != "" {
		m.Variables[sshPassphrase] = passphrase
	}
	return nil
}
