package cli

import (
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/source"
)

// sshPassphrase is the variable that decrypts a private key: a flag would show it to all users of this machine.
const sshPassphrase = "CLUSTER_INIT_SSH_PASSPHRASE"

// check returns all problems of the source flags that need no request. makes is the provider of the machines, nil if
// not known.
func (o *sourceOptions) check(makes provider.Provider) error {
	_, err := o.ca()
	own := fault.Join(o.unusedSourceFlags(), err)
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

// unusedSourceFlags refuses flags that the source ignores: most likely --source was forgotten, and Flux would read from
// another place than the user expects.
func (o *sourceOptions) unusedSourceFlags() error {
	var problems []error
	for _, flag := range []struct {
		name  string
		given bool
		of    []string
	}{
		{"--source-url", o.url != "", []string{"git", "oci"}},
		{"--source-branch", o.branch != "", []string{"git"}},
		{"--source-commit", o.commit != "", []string{"git"}},
		{"--source-tag", o.tag != "", []string{"git"}},
		{"--source-semver", o.semver != "", []string{"git"}},
		{"--source-ssh-key", o.sshKey != "", []string{"git"}},
		{"--source-known-hosts", o.knownHosts != "", []string{"git"}},
		{"--source-content-tag", o.contentTag != "", []string{"oci"}},
		{"--source-chart-tag", o.chartTag != "", []string{"oci"}},
		{"--source-content-digest", o.contentDigest != "", []string{"oci"}},
		{"--source-chart-digest", o.chartDigest != "", []string{"oci"}},
		{"--source-ca-file", o.caFile != "", []string{"git", "oci"}},
		{"--source-insecure", o.insecure, []string{"oci", "git"}},
		{"--components", o.components.folder != "", []string{"embedded"}},
	} {
		if flag.given && !slices.Contains(flag.of, o.kind) {
			problems = append(problems, fault.New(fault.Usage, fmt.Sprintf("%s is given, but the source is %s",
				flag.name, o.kind),
				fmt.Sprintf("Add --source %s, or leave %s out.", strings.Join(flag.of, " or --source "), flag.name)))
		}
	}
	return fault.Join(problems...)
}

func (o *sourceOptions) checkEmbedded(p provider.Provider) error {
	if p == nil || p.ReachesEngine() { // nil: the environment could not be read, which is said already
		return nil
	}
	return fault.New(fault.Usage, fmt.Sprintf("--source embedded is a registry in this machine's Docker engine, which "+
		"machines in %s cannot reach", p.Place()),
		"Use --source git, or --source oci with a registry that both reach: see docs/guides/sources.md.")
}

func (o *sourceOptions) checkOCI() error {
	if strings.HasPrefix(o.url, "oci://") && strings.Contains(o.url, "@") {
		return fault.New(fault.Usage, "--source-url holds credentials",
			"Leave them out of it, and run docker login: its credentials are used.")
	}
	var problems []error
	if !strings.HasPrefix(o.url, "oci://") || o.contentTag+o.contentDigest == "" || o.chartTag+o.chartDigest == "" {
		problems = append(problems, fault.New(fault.Usage,
			"--source oci needs --source-url oci://HOST/PREFIX, and a tag or a digest of the content and of the chart",
			"`cluster-init publish oci://HOST/PREFIX ENVIRONMENT` fills a registry and prints them."))
	}
	for _, artifact := range []struct{ flag, tag, digest string }{
		{"content", o.contentTag, o.contentDigest}, {"chart", o.chartTag, o.chartDigest},
	} {
		if artifact.tag != "" && artifact.digest != "" {
			problems = append(problems, fault.New(fault.Usage,
				fmt.Sprintf("--source-%[1]s-tag and --source-%[1]s-digest are given", artifact.flag),
				"Give the digest alone: it names the same for ever."))
		}
		if _, err := v1.NewHash(artifact.digest); artifact.digest != "" && err != nil {
			problems = append(problems, fault.New(fault.Usage,
				fmt.Sprintf("--source-%s-digest is %q: want sha256: and 64 hexadecimal digits",
					artifact.flag, artifact.digest),
				"Give what `cluster-init publish` printed."))
		}
	}
	return fault.Join(problems...)
}
