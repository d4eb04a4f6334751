package openstack

import (
	"context"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
	"github.com/cluster-init/cluster-init/e2e/lab/openstack/resource"
	"github.com/cluster-init/cluster-init/pkg/openstack"
)

// Project makes a project with a user of the same name, who is a member and no administrator, with generous quotas and
// an entry in the lab's clouds.yaml. It may be repeated, and its user's password then stays. remove deletes it with all
// that is in it; it may be repeated too.
func (l *Lab) Project(ctx context.Context, name string) (cloud openstack.Cloud, remove func(context.Context) error,
	err error) {
	installation, err := l.whole()
	if err != nil {
		return openstack.Cloud{}, nil, err
	}
	login := resource.Login{User: name, Project: name}
	// The entry comes first: a project whose password is lost could not be used or emptied.
	err = l.changeClouds(func(entries map[string]any) {
		if login.Password = resource.PasswordOf(entries[name]); login.Password == "" {
			login.Password = configuration.Password()
			entries[name] = resource.Entry(installation, login)
		}
	})
	if err != nil {
		return openstack.Cloud{}, nil, err
	}
	if err := resource.MakeProject(ctx, installation, login); err != nil {
		return openstack.Cloud{}, nil, err
	}
	config, err := resource.CloudsYAML(name, resource.Entry(installation, login))
	if err != nil {
		return openstack.Cloud{}, nil, err
	}
	return openstack.Cloud{Name: name, Config: config}, func(ctx context.Context) error {
		if err := resource.RemoveProject(ctx, installation, login); err != nil {
			return err
		}
		return l.changeClouds(func(entries map[string]any) { delete(entries, name) })
	}, nil
}

// SetQuota sets one limit of a project, by the name that OpenStack's APIs give it, such as cores, port or gigabytes.
func (l *Lab) SetQuota(ctx context.Context, project, quota string, limit int) error {
	installation, err := l.whole()
	if err != nil {
		return err
	}
	return resource.SetQuotas(ctx, installation, project, resource.Quotas{quota: limit})
}
