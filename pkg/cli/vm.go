package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/provider/known"
	"github.com/cluster-init/cluster-init/pkg/vm"
)

func newVM(streams Streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "vm",
		Short:   "Bootstrap a management cluster from a disposable VM, without Docker",
		Example: "  cluster-init vm user-data ./edge-site --source git --source-url URL --binary-url URL --binary-sha256 SUM",
		RunE:    onlyCommands,
	}
	c.AddCommand(newVMUserData(streams), newVMSecrets(streams))
	return c
}

// vmOptions are the flags of both commands: what a machine gets besides the binary.
type vmOptions struct {
	environmentOptions
	sourceOptions
	mirrors []string
	streams Streams
}

func (o *vmOptions) flags(f *pflag.FlagSet) {
	o.environmentOptions.flags(f, o.streams)
	o.sourceOptions.flags(f)
	f.StringArrayVar(&o.mirrors, "registry-mirror", nil, "HOST=URL: pull images of HOST from URL instead (repeatable)")
}

// machine checks all input, and returns the machine and the provider's limit of user data.
func (o *vmOptions) machine(ctx context.Context, name string) (vm.Machine, int, error) {
	var makes provider.Provider
	env, err := o.load(ctx, name, func(env *environment.Environment) error {
		makes, _ = known.Of(env, nil) // the schema refuses unknown providers
		return nil
	})
	mirrors, mirrorsErr := oci.ParseMirrors(o.mirrors)
	cloud, hasVMs := makes.(provider.UserDataLimiter)
	if makes != nil && !hasVMs {
		return vm.Machine{}, 0, fault.Join(err, fault.New(fault.Usage,
			"machines in "+makes.Place()+" need a Docker engine, and a disposable VM has none",
			"Run cluster-init up on a machine with a Docker engine."))
	}
	if err := fault.Join(err, mirrorsErr, o.sourceOptions.check(makes)); err != nil {
		return vm.Machine{}, 0, err
	}
	if env, _, err = asApplied(env, nil, mirrors, env.ClusterName()); err != nil {
		return vm.Machine{}, 0, err
	}
	m, err := o.machineOf(env)
	return m, cloud.UserDataLimit(), err
}

func (o *vmOptions) machineOf(env *environment.Environment) (vm.Machine, error) {
	cluster := env.Spec().Cluster
	m := vm.Machine{Cluster: cluster.Name, Version: Version(), PodCIDR: cluster.PodCIDR,
		ServiceCIDR: cluster.ServiceCIDR,
		Variables:   map[string]string{}}
	public, secret, err := env.Folder()
	if err != nil {
		return m, err
	}
	m.Files, m.Secrets = vm.InFolder(m.Cluster, public), vm.InFolder(m.Cluster, secret)
	files, secretFiles, prepare, err := env.MachineFiles()
	if err != nil {
		return m, err
	}
	m.Prepare = prepare
	for _, f := range files {
		m.Files = append(m.Files, vm.File(f))
	}
	for _, f := range secretFiles {
		m.Secrets = append(m.Secrets, vm.File(f))
	}
	if p := env.Spec().Proxies; p.HTTP != "" || p.HTTPS != "" {
		m.Variables["http_proxy"], m.Variables["https_proxy"] = p.HTTP, p.HTTPS
		m.Variables["no_proxy"] = env.NoProxy(environment.Bootstrap)
	}
	return m, o.sourceOn(env, &m)
}

// vmUserDataOptions are the flags of `vm user-data`.
type vmUserDataOptions struct {
	vmOptions
	binaryURL, binarySHA256, secrets, afterwards string
}

func newVMUserData(streams Streams) *cobra.Command {
	o := &vmUserDataOptions{vmOptions: vmOptions{streams: streams}}
	c := &cobra.Command{
		Use:   "user-data ENVIRONMENT [-- FLAGS OF UP]",
		Short: "Print the user data of a disposable VM that runs up (cloud-init)",
		Long: `user-data prints a cloud-config document. A VM that boots with it makes a bootstrap cluster with
kubeadm, and runs up with it. Its image needs cloud-init, and Kubernetes as the machines of
kubeadm-capo have it. Its log is on the console of the VM.

The document holds the environment as it is here: its files, flags and variables. Secrets are left
out, and the VM waits until you copy them: see vm secrets. With --secrets include, the document
contains the secrets. Then every process and pod on the VM can read them. So can everyone who may view
the VM in the cloud.`,
		Example: `  cluster-init vm user-data ./edge-site --source git --source-url https://git.example.org/platform.git \
    --binary-url https://files.example.org/cluster-init --binary-sha256 SUM > user-data
  openstack server create --image KUBERNETES_IMAGE --flavor m1.large --network NETWORK --key-name KEY \
    --user-data user-data bootstrap`,
		Args: environmentAndMore,
		RunE: func(c *cobra.Command, args []string) error { return o.run(c, args) },
	}
	f := c.Flags()
	o.flags(f)
	f.StringVar(&o.binaryURL, "binary-url", "", "http(s) URL from which the machine gets cluster-init for Linux: an "+
		"executable, or a .tar.gz with one (required)")
	f.StringVar(&o.binarySHA256, "binary-sha256", "", "SHA-256 digest of that file, 64 hexadecimal digits (required)")
	choose(f, &o.secrets, "secrets", "", "none: the machine waits for them (vm secrets); include: they are in the "+
		"document", "none", "include")
	choose(f, &o.afterwards, "afterwards", "", "stay, or poweroff: what the machine does when up has succeeded", "stay",
		"poweroff")
	return c
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (o *vmUserDataOptions) check() error {
	var problems []error
	if u, err := url.Parse(o.binaryURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.User != nil {
		problems = append(problems, fault.New(fault.Usage, "--binary-url is not an http(s) URL without a login",
			"Put cluster-init for Linux where the machine can get it, and give its URL."))
	}
	if !sha256Hex.MatchString(o.binarySHA256) {
		problems = append(problems, fault.New(fault.Usage, "--binary-sha256 is not a SHA-256 digest",
			"Give what sha256sum prints for the file of --binary-url."))
	}
	return fault.Join(append(problems, eitherOf("--secrets", o.secrets, "none", "include"),
		eitherOf("--afterwards", o.afterwards, "stay", "poweroff"))...)
}

func eitherOf(flag, value, one, other string) error {
	if value == one || value == other {
		return nil
	}
	return fault.New(fault.Usage, fmt.Sprintf("%s %q is not known", flag, value), "Use "+one+" or "+other+".")
}

func (o *vmUserDataOptions) run(c *cobra.Command, args []string) error {
	if err := fault.Join(o.check(), checkUpFlags(args[1:])); err != nil {
		return err
	}
	m, limit, err := o.machine(c.Context(), args[0])
	if err != nil {
		return err
	}
	m.BinaryURL, m.BinarySHA256, m.PowerOff = o.binaryURL, o.binarySHA256, o.afterwards == "poweroff"
	m.Up = append(m.Up, args[1:]...)
	include := o.secrets == "include"
	text, err := m.UserData(include, limit)
	if err != nil {
		return err
	}
	if include {
		fmt.Fprintln(o.streams.Err, "warning: the user data contains secrets: every process and pod on the VM can "+
			"read them, and everyone who may view the VM in the cloud")
	}
	_, err = o.streams.binary.Write(text)
	return err
}

// environmentAndMore accepts an ENVIRONMENT, and words after --.
func environmentAndMore(c *cobra.Command, args []string) error {
	if at := c.ArgsLenAtDash(); at >= 0 {
		args = args[:at]
	}
	return exactlyOne("ENVIRONMENT")(c, args)
}

// notOnMachine returns the flags of up that a machine gets from elsewhere, or whose files it does not have.
func notOnMachine() []string {
	return []string{"set", "values", "bundle", "bootstrap-kubeconfig", "node-image", "registry-binary",
		"api-server-port", "engine-address", "output", "dry-run", "components", "source-ssh-key", "source-known-hosts",
		"source-ca-file", "registry-mirror", "sign-key", "kubeconfig", "junit", "report", "output-dir"}
}

// checkUpFlags refuses words that are no flags of up, and flags that make no sense on the machine.
func checkUpFlags(words []string) error {
	up := newUp(Streams{known: newSecrecy(nil), Err: os.Stderr, Out: os.Stdout})
	if err := up.ParseFlags(words); err != nil {
		return fault.Wrap(fmt.Errorf("after --: %w", err), fault.Usage,
			"Use a flag that cluster-init up --help lists.")
	}
	if rest := up.Flags().Args(); len(rest) > 0 {
		return fault.New(fault.Usage, "after --: "+rest[0]+" is not a flag of up",
			"Use a flag that cluster-init up --help lists.")
	}
	for _, name := range notOnMachine() {
		if f := up.Flags().Lookup(name); f != nil && f.Changed {
			return fault.New(fault.Usage, "--"+name+" cannot be used for up on the VM",
				"Leave it out, or give it before -- if vm user-data has it.")
		}
	}
	return nil
}

func newVMSecrets(streams Streams) *cobra.Command {
	o := &vmOptions{streams: streams}
	c := &cobra.Command{
		Use:   "secrets ENVIRONMENT",
		Short: "Write the secrets for a machine of vm user-data, to be copied over SSH",
		Long: `secrets writes the secrets of an environment and of its source to stdout, as a compressed tar archive
for the root folder of the machine. Give it the same flags as vm user-data. The machine waits for it.`,
		Example: `  cluster-init vm secrets ./edge-site --source git --source-url https://git.example.org/platform.git |
    ssh ubuntu@203.0.113.7 sudo tar -xzf - -C /`,
		Args: exactlyOne("ENVIRONMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			m, _, err := o.machine(c.Context(), args[0])
			if err != nil {
				return err
			}
			return m.WriteSecrets(o.streams.binary)
		},
	}
	o.flags(c.Flags())
	return c
}
