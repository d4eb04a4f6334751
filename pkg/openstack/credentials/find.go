// Package credentials finds the OpenStack cloud that the user means, as the tools of OpenStack do.
package credentials

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// ErrNone reports that no credentials were found, not even incomplete ones.
var ErrNone = errors.New("no OpenStack credentials")

// Find returns the cloud that python-openstackclient would use: the entry OS_CLOUD of a clouds.yaml
// (OS_CLIENT_CONFIG_FILE, ./clouds.yaml, ~/.config/openstack, /etc/openstack; with the secure.yaml next to it), else
// the variables OS_AUTH_URL and so on, else the only entry of a clouds.yaml. OPENSTACK_CLOUD_YAML_B64, which
// clusterctl's users know, takes the place of the files and precedes the variables. lookup finds variables, as
// os.LookupEnv does.
//
// It fails with fault.CredentialsMissing if nothing is found (ErrNone), or if the credentials are unreadable,
// incomplete or contradictory. No error contains a secret.
func Find(lookup func(name string) (string, bool)) (openstack.Cloud, error) {
	f := finder{lookup: lookup}
	f.folders = f.usualFolders()
	return f.find()
}

// finder searches one environment.
type finder struct {
	lookup  func(name string) (string, bool)
	folders []string // that may contain a clouds.yaml
}

// get returns a variable. An empty one counts as not set.
func (f finder) get(name string) string {
	value, _ := f.lookup(name)
	return value
}

func (f finder) find() (openstack.Cloud, error) {
	name, err := f.wanted()
	if err != nil {
		return openstack.Cloud{}, err
	}
	if encoded := f.get("OPENSTACK_CLOUD_YAML_B64"); encoded != "" {
		return f.fromEncoded(name, encoded)
	}
	if set := f.identifying(); name == "" && len(set) > 0 {
		return f.fromVariables()
	}
	path, err := f.cloudsFile()
	if err != nil {
		return openstack.Cloud{}, err
	}
	if path == "" {
		return openstack.Cloud{}, f.nothing(name)
	}
	files, err := f.readFiles(path)
	if err != nil {
		return openstack.Cloud{}, err
	}
	return f.fromFiles(name, files)
}

// wanted is the name of the requested entry. Empty means none is named.
func (f finder) wanted() (string, error) {
	name, other := f.get("OS_CLOUD"), f.get("OPENSTACK_CLOUD")
	if name != "" && other != "" && name != other {
		return "", missing(fmt.Sprintf("OS_CLOUD is %q and OPENSTACK_CLOUD is %q", name, other), "Unset one of them.")
	}
	if name == "" {
		name = other
	}
	return name, nil
}

func (f finder) nothing(name string) error {
	looked := "clouds.yaml in " + strings.Join(f.folders, ", ")
	if name != "" {
		return missing(fmt.Sprintf("no clouds.yaml for cloud %q; looked for %s", name, looked),
			"Write one, or set OS_CLIENT_CONFIG_FILE to its path.")
	}
	return fault.Wrap(fmt.Errorf("%w: OS_CLOUD and OS_AUTH_URL are not set; looked for %s", ErrNone, looked),
		fault.CredentialsMissing, openstack.CredentialsHint)
}

// fromEncoded reads a clouds.yaml from a variable.
func (f finder) fromEncoded(name, encoded string) (openstack.Cloud, error) {
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil { // the error would quote it
		return openstack.Cloud{}, missing("OPENSTACK_CLOUD_YAML_B64 is not base64",
			"Give it the output of `base64 -w0 clouds.yaml`.")
	}
	parsed, err := parseClouds(text, "OPENSTACK_CLOUD_YAML_B64")
	if err != nil {
		return openstack.Cloud{}, err
	}
	return f.fromFiles(name, files{clouds: parsed, path: "OPENSTACK_CLOUD_YAML_B64"})
}

// fromFiles reads one entry of a clouds.yaml.
func (f finder) fromFiles(name string, in files) (openstack.Cloud, error) {
	names := slices.Sorted(maps.Keys(in.clouds.Clouds))
	if name == "" {
		if len(names) != 1 {
			return openstack.Cloud{}, missing(fmt.Sprintf("%s has %d clouds, and OS_CLOUD does not select one",
				in.path, len(names)), "Set OS_CLOUD to one of: "+cmp.Or(strings.Join(names, ", "), "none"))
		}
		name = names[0]
	}
	if !slices.Contains(names, name) {
		return openstack.Cloud{}, missing(fmt.Sprintf("%s has no cloud %q", in.path, name),
			"It has: "+cmp.Or(strings.Join(names, ", "), "none"))
	}
	e, err := in.entry(name, f.get("OS_REGION_NAME"))
	if err != nil {
		return openstack.Cloud{}, err
	}
	if err := f.overlay(name, &e); err != nil {
		return openstack.Cloud{}, err
	}
	return f.resolve(name, e, func(field string) string {
		return fmt.Sprintf("auth.%s of cloud %q in %s", field, name,
			in.path)
	})
}

// fromVariables reads the variables of an openrc file.
func (f finder) fromVariables() (openstack.Cloud, error) {
	var e source
	for name, field := range e.variables() {
		*field = f.get(name)
	}
	if err := f.choices(&e); err != nil {
		return openstack.Cloud{}, err
	}
	return f.resolve("openstack", e, func(field string) string { return "OS_" + strings.ToUpper(field) })
}

// resolve makes the cloud of an entry. called returns the user's name of a field of its `auth`.
func (f finder) resolve(name string, e source, called func(field string) string) (openstack.Cloud, error) {
	config, err := e.normalize(called)
	if err != nil {
		return openstack.Cloud{}, err
	}
	text, err := write(name, config)
	if err != nil {
		return openstack.Cloud{}, err
	}
	ca, err := f.certificates(e.CACert)
	return openstack.Cloud{Name: name, Config: text, CACert: ca}, err
}

func missing(message, hint string) error { return fault.New(fault.CredentialsMissing, message, hint) }
