package cli

import (
	"context"
	"encoding/base64"

	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// The variables of an environment that OpenStack's tools keep elsewhere: their names are those of clusterctl's templates.
const (
	openstackYAML   = "OPENSTACK_CLOUD_YAML_B64"
	openstackCloud  = "OPENSTACK_CLOUD"
	openstackCACert = "OPENSTACK_CLOUD_CACERT_B64"
)

// deriveFromOpenStack looks for the cloud as python-openstackclient does.
func deriveFromOpenStack(lookup func(string) (string, bool), name string) (string, bool, error) {
	if name != openstackYAML && name != openstackCloud && name != openstackCACert {
		return "", false, nil
	}
	cloud, err := openstack.Find(lookup)
	if err != nil {
		return "", false, err
	}
	switch name {
	case openstackYAML:
		return base64.StdEncoding.EncodeToString(cloud.Config), true, nil
	case openstackCloud:
		return cloud.Name, true, nil
	}
	return base64.StdEncoding.EncodeToString(cloud.CACert), true, nil
}

// noCloud is a cloud that nobody can log in to.
func noCloud(name string) (string, bool) {
	switch name {
	case openstackYAML:
		return base64.StdEncoding.EncodeToString([]byte("clouds: {none: {auth: {}}}\n")), true
	case openstackCloud:
		return "none", true
	case openstackCACert:
		return "", true
	}
	return "", false
}

// cloudOf returns the cloud that the environment's machines will be made in: what the cluster gets, not what the shell says.
func cloudOf(env *environment.Environment) (openstack.Cloud, error) {
	cloudsYAML, cloudName, caCert := env.OpenStackCredentials()
	given := map[string]string{openstackYAML: cloudsYAML, openstackCloud: cloudName, openstackCACert: caCert}
	if given[openstackYAML] == "" { // else it would look for files
		return openstack.Cloud{}, fault.New(fault.CredentialsMissing, "cluster.openstack.clouds_yaml_b64 is empty", "See docs/openstack.md.")
	}
	return openstack.Find(func(name string) (string, bool) { return given[name], given[name] != "" })
}

// connectCloudOf logs in to the environment's cloud.
func connectCloudOf(ctx context.Context, env *environment.Environment) (*openstack.Client, error) {
	cloud, err := cloudOf(env)
	if err != nil {
		return nil, err
	}
	return openstack.Connect(ctx, cloud)
}

// openstackPreflight logs in to the environment's cloud and asks it for what the cluster needs.
func openstackPreflight(env *environment.Environment) func(context.Context, pipeline.Reporter) error {
	return func(ctx context.Context, report pipeline.Reporter) error {
		cloud, err := cloudOf(env)
		if err != nil {
			return err
		}
		client, err := openstack.Connect(ctx, cloud)
		if err != nil {
			return err
		}
		found, err := openstack.Preflight(ctx, client, openstackNeeds(env))
		for _, note := range found.Notes {
			report.Progress("cloud %s: %s", cloud.Name, note)
		}
		for _, warning := range found.Warnings {
			report.Warn("cloud %s: %s", cloud.Name, warning)
		}
		return err
	}
}
