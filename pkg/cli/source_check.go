package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// sshPassphrase is the variable that opens an encrypted private key: a flag would show it to all users of this machine.
const sshPassphrase = "CLUSTER_INIT_SSH_PASSPHRASE"

// check returns all that is wrong with the flags of the source, as far as no server need be asked. makes makes the
// machines; nil when that is not known.
func (o *sourceOptions) check(makes provider.Provider) error {
	own := o.strangers()
	switch source.Kind(o.kind) {
	case source.Embedded:
		return fault.Join(own, o.checkEmbedded(makes))
	case source.Git:
		return fault.Join(own, o.checkGit())
	case source.OCI:
		return fault.Join(own, o.checkOCI())
	}
	return fault.New(fault.Usage, fmt.Sprintf("--source %q is not known", o.kind), "Use embedded, git or oci.")
}

// strangers refuses flags that the source does not look at: most likely --source was forgotten, and Flux would read from
// elsewhere than the user thinks.
func (o *sourceOptions) strangers() error {
	var problems []error
	for _, flag := range []struct {
		name  string
		given bool
		of    []string
	}{
		{"--source-url", o.url != "", []string{"git", "oci"}},
		{"--source-branch", o.branch != "", []string{"git"}},
		{"--source-commit", o.commit != "", []string{"git"}},
		{"--source-ssh-key", o.sshKey != "", []string{"git"}},
		{"--source-known-hosts", o.knownHosts != "", []string{"git"}},
		{"--source-content-tag", o.contentTag != "", []string{"oci"}},
		{"--source-chart-tag", o.chartTag != "", []string{"oci"}},
		{"--source-insecure", o.insecure, []string{"oci"}},
	} {
		if flag.given && !slices.Contains(flag.of, o.kind) {
			problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("%s is given, but the source is %s", flag.name, o.kind),
				fmt.Sprintf("Add --source %s, or leave %s out.", strings.Join(flag.of, " or --source "), flag.name)))
		}
	}
	return fault.Join(problems...)
}

func (o *sourceOptions) checkEmbedded(p provider.Provider) error {
	if p == nil || p.ReachesEngine() { // nil: the environment could not be read, which is said already
		return nil
	}
	return fault.New(fault.Usage, fmt.Sprintf("--source embedded is a registry in this machine's Docker engine, which machines in %s cannot reach", p.Place()),
		"Use --source git, or --source oci with a registry that both reach: see docs/sources.md.")
}

func (o *sourceOptions) checkGit() error {
	if o.url == "" {
		return fault.New(fault.Usage, "--source git needs --source-url", "Give the URL of the Git repository.")
	}
	address, overSSH := source.GitAddress(o.url)
	given := o.sshKey != "" || o.knownHosts != ""
	u, err := parseAddress(address)
	if err != nil {
		return err
	}
	if !overSSH && u.User != nil {
		return fault.New(fault.Usage, "--source-url holds credentials, and would be readable in both clusters as it is",
			"Leave them out of it, and set GITLAB_USER and GITLAB_TOKEN, which end in a Secret.")
	}
	switch {
	case !overSSH && given:
		return fault.New(fault.Usage, "--source-ssh-key and --source-known-hosts are given, but --source-url is not an address over ssh",
			"Give --source-url ssh://git@HOST/PATH, or leave the two out.")
	case !overSSH:
		return nil
	}
	if _, password := u.User.Password(); password {
		return fault.New(fault.Usage, "--source-url is an address over ssh with a password", "Leave the password out, and give --source-ssh-key.")
	}
	if o.sshKey == "" || o.knownHosts == "" {
		return fault.New(fault.Usage, "--source-url is an address over ssh, and Flux needs a key and the server's key for it",
			"Give --source-ssh-key FILE and --source-known-hosts FILE, or an https:// address.")
	}
	_, err = source.ReadSSHKey(o.sshKey, o.knownHosts, os.Getenv(sshPassphrase))
	return err
}

// parseAddress refuses what Flux would: it reads from servers only. The address is not quoted, as it may hold a password.
func parseAddress(address string) (*url.URL, error) {
	const hint = "Give https://HOST/PATH, ssh://git@HOST/PATH or git@HOST:PATH: Flux reads it from inside of the clusters."
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fault.New(fault.Usage, "--source-url is not an address", hint)
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ssh":
		return nil, fault.New(fault.Usage, "--source-url is not an address over https, http or ssh", hint)
	case u.Hostname() == "" || strings.Trim(u.Path, "/") == "":
		return nil, fault.New(fault.Usage, "--source-url names no repository on a server", hint)
	}
	if port, err := strconv.Atoi(cmp.Or(u.Port(), "1")); err != nil || port < 1 || port > 65535 {
		return nil, fault.New(fault.Usage, "--source-url: there is no port "+u.Port(), "Give a port from 1 to 65535.")
	}
	return u, nil
}

func (o *sourceOptions) checkOCI() error {
	if strings.HasPrefix(o.url, "oci://") && strings.Contains(o.url, "@") {
		return fault.New(fault.Usage, "--source-url holds credentials", "Leave them out of it, and run docker login: its credentials are used.")
	}
	if strings.HasPrefix(o.url, "oci://") && o.contentTag != "" && o.chartTag != "" {
		return nil
	}
	return fault.New(fault.Usage, "--source oci needs --source-url oci://HOST/PREFIX, --source-content-tag and --source-chart-tag",
		"`cluster-init publish oci://HOST/PREFIX ENVIRONMENT` fills a registry and prints them.")
}
