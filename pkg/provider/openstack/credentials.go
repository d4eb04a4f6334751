package openstack

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	cloud "github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/credentials"
)

// The variables of an environment that OpenStack's tools keep elsewhere. Their names are those of clusterctl's
// templates.
const (
	cloudsYAML = "OPENSTACK_CLOUD_YAML_B64"
	cloudName  = "OPENSTACK_CLOUD"
	caCert     = "OPENSTACK_CLOUD_CACERT_B64"
)

// Derive returns the value of an environment's variable: it finds the cloud as python-openstackclient does, with the
// process's variables from lookup. found is false for a variable of another owner, and for the CA without a cloud.
func Derive(lookup func(string) (string, bool), name string) (value string, found bool, err error) {
	if name != cloudsYAML && name != cloudName && name != caCert {
		return "", false, nil
	}
	of, err := credentials.Find(lookup)
	// without a cloud there is no CA: whoever needs the cloud requests its clouds.yaml as well
	if name == caCert && errors.Is(err, credentials.ErrNone) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	switch name {
	case cloudsYAML:
		return base64.StdEncoding.EncodeToString(of.Config), true, nil
	case cloudName:
		return of.Name, true, nil
	}
	return base64.StdEncoding.EncodeToString(of.CACert), true, nil
}

// NoCloud is what Derive returns for a cloud without a login, for a run that does not use credentials.
func NoCloud(name string) (value string, found bool) {
	switch name {
	case cloudsYAML:
		return base64.StdEncoding.EncodeToString([]byte("clouds: {none: {auth: {}}}\n")), true
	case cloudName:
		return "none", true
	case caCert:
		return "", true
	}
	return "", false
}

// Cloud returns the cloud of the environment's machines: the cluster's, whatever the shell names.
func Cloud(env *environment.Environment) (cloud.Cloud, error) {
	yaml, name, ca := env.OpenStackCredentials()
	given := map[string]string{cloudsYAML: yaml, cloudName: name, caCert: ca}
	if yaml == "" { // otherwise it would look for files
		return cloud.Cloud{}, fault.New(fault.CredentialsMissing, "cluster.openstack.clouds_yaml_b64 is empty",
			"Set it as docs/environments/openstack.md describes.")
	}
	return credentials.Find(func(name string) (string, bool) { return given[name], given[name] != "" })
}

// session is one login for the whole run: logging in takes as long as all later requests together. Its token is renewed
// when it expires.
type session struct {
	lock   sync.Mutex
	client *cloud.Client
}

// connect logs in to the environment's cloud, unless this provider has done so already. After a failed login the next
// call retries.
func (p Provider) connect(ctx context.Context) (*cloud.Client, error) {
	p.session.lock.Lock()
	defer p.session.lock.Unlock()
	if p.session.client != nil {
		return p.session.client, nil
	}
	of, err := Cloud(p.environment)
	if err != nil {
		return nil, err
	}
	client, err := cloud.Connect(ctx, of)
	if err == nil {
		p.session.client = client
	}
	return client, err
}
