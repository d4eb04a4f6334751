package cli

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// The variables that hold the login of Git servers.
const (
	gitUser  = "GITLAB_USER"
	gitToken = "GITLAB_TOKEN"
)

func (o *sourceOptions) checkGit() error {
	if o.url == "" {
		return fault.New(fault.Usage, "--source git needs --source-url", "Give the URL of the Git repository.")
	}
	address, overSSH := source.GitAddress(o.url)
	given := o.sshKey != "" || o.knownHosts != ""
	revision := o.checkRevision()
	u, err := parseAddress(o.url, address)
	if err != nil {
		return fault.Join(err, revision)
	}
	if o.insecure && u.Scheme != "http" {
		revision = fault.Join(fault.New(fault.Usage,
			"--source-insecure is given, but --source-url is not an address over http",
			"Leave --source-insecure out."), revision)
	}
	if o.caFile != "" && u.Scheme != "https" {
		revision = fault.Join(fault.New(fault.Usage,
			"--source-ca-file is given, but --source-url is not an address over https",
			"Leave --source-ca-file out."), revision)
	}
	if !overSSH {
		return fault.Join(o.checkHTTP(u, given), revision)
	}
	if _, password := u.User.Password(); password {
		return fault.Join(fault.New(fault.Usage, "--source-url is an address over ssh with a password",
			"Leave the password out, and give --source-ssh-key."), revision)
	}
	if o.sshKey == "" || o.knownHosts == "" {
		return fault.Join(fault.New(fault.Usage,
			"--source-url is an address over ssh, and Flux needs a key and the server's key for it",
			"Give --source-ssh-key FILE and --source-known-hosts FILE, or an https:// address."), revision)
	}
	_, err = source.ReadSSHKey(o.sshKey, o.knownHosts, os.Getenv(sshPassphrase))
	return fault.Join(err, revision)
}

func (o *sourceOptions) checkHTTP(u *url.URL, ssh bool) error {
	user, token := os.Getenv(gitUser), os.Getenv(gitToken)
	switch {
	case u.User != nil:
		return fault.New(fault.Usage, "--source-url holds credentials, and would be readable in both clusters as it is",
			"Leave them out of it, and set GITLAB_USER and GITLAB_TOKEN, which end in a Secret.")
	case ssh:
		return fault.New(fault.Usage,
			"--source-ssh-key and --source-known-hosts are given, but --source-url is not an address over ssh",
			"Give --source-url ssh://git@HOST/PATH, or leave the two out.")
	case token == "":
		return nil
	case u.Scheme == "http" && !o.insecure:
		return fault.New(fault.Usage,
			"--source-url is an address over http, and "+gitToken+" would be sent in clear text",
			"Give an https:// address, unset GITLAB_TOKEN, or accept it with --source-insecure.")
	}
	return environment.CheckLogin(gitUser, user, gitToken, token)
}

// commitHash is the full hash of a commit, by SHA-1 or SHA-256: Flux resolves nothing else.
var commitHash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// badInRef matches what git-check-ref-format(1) refuses in a branch or a tag.
var badInRef = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[-./]|[./]$|\.lock(/|$)|/\.`)

// checkRevision refuses what Flux would not find in any repository.
func (o *sourceOptions) checkRevision() error {
	var problems []error
	name, commit := o.commitGiven()
	refuse := func(hint, format string, args ...any) {
		problems = append(problems, fault.New(fault.Usage, fmt.Sprintf(format, args...), hint))
	}
	if commit != "" && !commitHash.MatchString(commit) {
		refuse("Give what `git rev-parse HEAD` prints, or follow a branch with --source-branch.",
			"%s is %q: want the full hash of a commit, 40 or 64 hexadecimal digits in lower case", name, commit)
	}
	for _, ref := range []struct{ flag, kind, value, prefix string }{
		{"--source-branch", "branch", o.branch, "refs/heads/"}, {"--source-tag", "tag", o.tag, "refs/tags/"},
	} {
		short := strings.TrimPrefix(ref.value, ref.prefix)
		switch {
		case short != ref.value && short != "":
			refuse("Give "+ref.flag+" "+short+".",
				"%s is %q: want the name of a %s without %s", ref.flag, ref.value, ref.kind, ref.prefix)
		case strings.HasPrefix(ref.value, "refs/"):
			refuse("Give a branch with --source-branch NAME, or a tag with --source-tag NAME.",
				"%s is %q, which is not the name of a %s", ref.flag, ref.value, ref.kind)
		case ref.value != "" && badInRef.MatchString(ref.value):
			refuse("Give the name as `git "+ref.kind+"` prints it.",
				"%s is %q, which cannot be the name of a %s", ref.flag, ref.value, ref.kind)
		}
	}
	if o.semver != "" {
		if _, err := semver.NewConstraint(o.semver); err != nil {
			refuse(`Write it as ">=1.2.0 <2.0.0".`, "--source-semver is %q, which is not a range of versions", o.semver)
		}
	}
	return fault.Join(append(problems, o.checkOneRevision(commit))...)
}

// checkOneRevision refuses more than one of tag, range, and branch or commit: Flux would silently use one of them.
func (o *sourceOptions) checkOneRevision(commit string) error {
	var given []string
	for _, flag := range []struct{ name, value string }{
		{"--source-tag", o.tag}, {"--source-semver", o.semver},
		{"--source-branch or --source-commit", cmp.Or(o.branch, commit)},
	} {
		if flag.value != "" {
			given = append(given, flag.name)
		}
	}
	if len(given) < 2 {
		return nil
	}
	return fault.New(fault.Usage, strings.Join(given, " and ")+" are given, but the source is one revision",
		"Give one of them.")
}

// commitGiven returns the commit, and where it comes from. CURRENT_COMMIT, which CI may set for each job, yields to
// --source-tag and --source-semver.
func (o *sourceOptions) commitGiven() (name, commit string) {
	if o.commit != "" || o.tag != "" || o.semver != "" {
		return "--source-commit", o.commit
	}
	return "variable CURRENT_COMMIT", os.Getenv("CURRENT_COMMIT")
}

// portLike matches HOST:PATH whose path begins like a port.
var portLike = regexp.MustCompile(`^(?:[^@/\s]+@)?([^@/:\s]+):([0-9]{1,5})(/.*)?$`)

// parseAddress refuses addresses that Flux cannot read: it reads from servers only. Errors do not quote the address,
// because it may hold a password.
func parseAddress(given, address string) (*url.URL, error) {
	const hint = "Give https://HOST/PATH, ssh://git@HOST/PATH or git@HOST:PATH: " +
		"Flux reads it from inside of the clusters."
	if !strings.Contains(given, "://") && portLike.MatchString(given) {
		return nil, fault.New(fault.Usage,
			"--source-url has digits after the host: a port in a URL, but part of the path in the form git@HOST:PATH",
			"Give https://HOST:PORT/PATH or ssh://git@HOST:PORT/PATH.")
	}
	if _, rest, prefixed := strings.Cut(given, "::"); prefixed && strings.Contains(rest, "://") {
		return nil, fault.New(fault.Usage, "--source-url begins with a prefix of another tool (NAME::)",
			"Leave out all up to and with the two colons.")
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, fault.New(fault.Usage, "--source-url is not an address", hint)
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ssh":
		return nil, fault.New(fault.Usage, "--source-url is not an address over https, http or ssh", hint)
	case u.Hostname() == "" || strings.Trim(u.Path, "/") == "":
		return nil, fault.New(fault.Usage, "--source-url names no repository on a server", hint)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, fault.New(fault.Usage, "--source-url has a part after ? or #, which Git does not know",
			"Leave it out; give a branch with --source-branch, a tag with --source-tag.")
	case strings.Contains(u.Path, "//"):
		return nil, fault.New(fault.Usage, "--source-url has // in its path, and the source is a whole repository",
			"Give the address of the repository: charts and kustomize-components are at its root.")
	}
	if port, err := strconv.Atoi(cmp.Or(u.Port(), "1")); err != nil || port < 1 || port > 65535 {
		return nil, fault.New(fault.Usage, "--source-url: there is no port "+u.Port(), "Give a port from 1 to 65535.")
	}
	return u, nil
}

// gitLogin returns the login for the source. It is empty without a token, or if the login belongs to other hosts. A
// token without a user name gets the default one.
func (o *sourceOptions) gitLogin(env *environment.Environment, address string) (user, token string) {
	token = os.Getenv(gitToken)
	hosts := env.GitHosts()
	if token == "" || len(hosts) > 0 && !slices.Contains(hosts, environment.GitHost(address)) {
		return "", ""
	}
	return cmp.Or(os.Getenv(gitUser), environment.DefaultGitUser), token
}

// gitHost returns the host of a Git source, empty for another source. For ssh it leaves out the port: that host serves
// https on the default port.
func (o *sourceOptions) gitHost() string {
	if source.Kind(o.kind) != source.Git {
		return ""
	}
	address, overSSH := source.GitAddress(o.url)
	if u, err := url.Parse(address); overSSH && err == nil {
		return strings.ToLower(u.Hostname())
	}
	return environment.GitHost(address)
}
