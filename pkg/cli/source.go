package cli

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/source"
	"github.com/cluster-init/cluster-init/pkg/source/content"
)

// sourceOptions are the flags for where Flux reads the content from.
type sourceOptions struct {
	kind, url, branch, commit, tag, semver, sshKey, knownHosts string
	contentTag, chartTag, contentDigest, chartDigest, caFile   string
	insecure                                                   bool
	components                                                 componentOptions
}

func (o *sourceOptions) flags(f *pflag.FlagSet) {
	choose(f, &o.kind, "source", "", "where Flux reads the content from: embedded (this binary), git or oci",
		"embedded",
		"git", "oci")
	f.StringVar(&o.url, "source-url", "", "git: URL of the repository (https://, ssh:// or git@HOST:PATH); oci: "+
		"oci://HOST/PREFIX that cluster-init publish filled")
	f.StringVar(&o.branch, "source-branch", "", "git: branch to follow (default without a commit: main)")
	f.StringVar(&o.commit, "source-commit", "", "git: commit to use (default: $CURRENT_COMMIT)")
	f.StringVar(&o.tag, "source-tag", "", "git: tag to use")
	f.StringVar(&o.semver, "source-semver", "", "git: range of versions; Flux follows the newest tag in it")
	f.StringVar(&o.sshKey, "source-ssh-key", "", "git over ssh: file with the private key; $"+sshPassphrase+
		" decrypts it")
	f.StringVar(&o.knownHosts, "source-known-hosts", "",
		"git over ssh: file with the server's key, as ssh-keyscan prints it")
	f.StringVar(&o.contentTag, "source-content-tag", "", "oci: tag of the content, as cluster-init publish printed it")
	f.StringVar(&o.chartTag, "source-chart-tag", "", "oci: tag of the chart, as cluster-init publish printed it")
	f.StringVar(&o.contentDigest, "source-content-digest", "",
		"oci: digest of the content (sha256:...), instead of its tag")
	f.StringVar(&o.chartDigest, "source-chart-digest", "", "oci: digest of the chart (sha256:...), instead of its tag")
	f.StringVar(&o.caFile, "source-ca-file", "",
		"git over https, oci: PEM file with the CA certificates of the server")
	f.BoolVar(&o.insecure, "source-insecure", false,
		"oci: use plain HTTP; git: allow credentials over http")
	o.components.flags(f)
}

// source returns the source after checking that it can be read. check must have passed.
func (o *sourceOptions) source(ctx context.Context, env *environment.Environment) (source.Source, error) {
	switch source.Kind(o.kind) {
	case source.Git:
		return o.git(ctx, env)
	case source.OCI:
		return o.oci(ctx, env)
	}
	return source.Source{Kind: source.Embedded}, nil
}

func (o *sourceOptions) git(ctx context.Context, env *environment.Environment) (source.Source, error) {
	if err := checkCheckout(env.Argument()); err != nil {
		return source.Source{}, err
	}
	_, commit := o.commitGiven()
	address, overSSH := source.GitAddress(o.url)
	s := source.Source{Kind: source.Git, Git: flux.GitSource{
		URL: address, Branch: o.branch, Commit: commit, Tag: o.tag, SemVer: o.semver,
	}}
	if overSSH {
		var err error
		if s.SSH, err = source.ReadSSHKey(o.sshKey, o.knownHosts, os.Getenv(sshPassphrase)); err != nil {
			return source.Source{}, err
		}
	} else {
		s.Username, s.Password = o.gitLogin(env, address)
	}
	var err error
	if s.CA, err = o.ca(); err != nil {
		return source.Source{}, err
	}
	err = s.Verify(ctx, proxies(env))
	if cmp.Or(s.Git.Branch, s.Git.Commit, s.Git.Tag, s.Git.SemVer) == "" { // after the check of what the user named
		s.Git.Branch = "main"
	}
	return s, err
}

func (o *sourceOptions) oci(ctx context.Context, env *environment.Environment) (source.Source, error) {
	prefix := strings.TrimPrefix(strings.TrimSuffix(o.url, "/"), "oci://")
	s := source.Source{
		Kind: source.OCI,
		Content: flux.OCIArtifact{
			URL: "oci://" + prefix + "/cluster-init/content", Tag: o.contentTag, Digest: o.contentDigest,
			Insecure: o.insecure,
		},
		Chart: flux.OCIArtifact{
			URL: "oci://" + prefix + "/cluster-init/charts/telco-cloud-init", Tag: o.chartTag, Digest: o.chartDigest,
			Insecure: o.insecure,
		},
	}
	var err error
	if s.CA, err = o.ca(); err != nil {
		return source.Source{}, err
	}
	if err := s.Verify(ctx, proxies(env)); err != nil {
		return source.Source{}, err
	}
	s.DockerConfig, err = dockerConfig(prefix)
	return s, err
}

// releaseFiles returns a fetcher for release files, which verifies them against the digests in this binary.
func releaseFiles(env *environment.Environment) (*content.HTTPFetcher, error) {
	sums, err := content.ReadSums(clusterinit.Content())
	return content.NewHTTPFetcher(proxies(env), sums), err
}

func proxies(env *environment.Environment) content.Proxies {
	p := env.Spec().Proxies
	return content.Proxies{HTTP: p.HTTP, HTTPS: p.HTTPS, No: env.NoProxy(environment.Management)}
}

// ca returns the certificates that the user trusts for the source. Nil means those of this machine.
func (o *sourceOptions) ca() ([]byte, error) {
	if o.caFile == "" {
		return nil, nil
	}
	return source.ReadCA(o.caFile)
}
