package resource

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	sdk "github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

// balancerRole is what octavia asks of those who make load balancers, on top of member.
const balancerRole = "load-balancer_member"

// memberRoles are the roles of an ordinary user.
func memberRoles() []string { return []string{"member", balancerRole} }

// Register tells keystone who the services are and where they answer, and makes project demo with its user.
func Register(ctx context.Context, installation configuration.Installation) error {
	provider, err := authenticate(ctx, installation, Admin(installation))
	if err != nil {
		return err
	}
	identity, err := sdk.NewIdentityV3(provider, gophercloud.EndpointOpts{Region: configuration.Region})
	if err != nil {
		return fmt.Errorf("find keystone: %w", err)
	}
	// What a service calls another with, on top of a user's own token, must have this role.
	for _, role := range []string{"service", balancerRole} {
		if _, err := ensure(ctx, identity, "roles", "role", map[string]any{"name": role}); err != nil {
			return err
		}
	}
	for _, name := range []string{"placement", "glance", "neutron", "cinder", "nova", "octavia"} {
		login := Login{User: name, Password: installation.Secrets.Service, Project: "service"}
		if err := ensureLogin(ctx, identity, login, "admin", "service"); err != nil {
			return err
		}
	}
	if err := ensureLogin(ctx, identity, Demo(installation), memberRoles()...); err != nil {
		return err
	}
	return registerEndpoints(ctx, identity, installation.Address)
}

// ensureLogin makes a project and a user with roles in it.
func ensureLogin(ctx context.Context, identity *gophercloud.ServiceClient, login Login, roles ...string) error {
	project, err := ensure(ctx, identity, "projects", "project",
		map[string]any{"name": login.Project, "domain_id": "default"})
	if err != nil {
		return err
	}
	user, err := ensure(ctx, identity, "users", "user", map[string]any{
		"name": login.User, "password": login.Password, "domain_id": "default", "default_project_id": project,
	})
	if err != nil {
		return err
	}
	for _, name := range roles {
		role, err := find(ctx, identity, "roles", "roles", name)
		if err != nil {
			return err
		}
		path := identity.ServiceURL("projects", project, "users", user, "roles", role)
		if _, err := identity.Put(ctx, path, nil, nil, accept(http.StatusNoContent)); err != nil {
			return fmt.Errorf("give user %s role %s: %w", login.User, name, err)
		}
	}
	return nil
}

// registerEndpoints fills the catalog. Keystone itself is in it from the start.
func registerEndpoints(ctx context.Context, identity *gophercloud.ServiceClient, address string) error {
	type endpoint struct {
		ServiceID string `json:"service_id"`
		Interface string `json:"interface"`
	}
	known, err := list[endpoint](ctx, identity, "endpoints", "endpoints")
	if err != nil {
		return err
	}
	there := map[endpoint]bool{}
	for _, one := range known {
		there[one] = true
	}
	for _, service := range []struct{ name, kind, path string }{
		{"placement", "placement", ":8778"}, {"glance", "image", ":9292"}, {"neutron", "network", ":9696"},
		{"cinderv3", "volumev3", ":8776/v3/%(project_id)s"}, {"nova", "compute", ":8774/v2.1"},
		{"octavia", "load-balancer", ":9876"},
	} {
		id, err := ensure(ctx, identity, "services", "service",
			map[string]any{"name": service.name, "type": service.kind})
		if err != nil {
			return err
		}
		for _, side := range []string{"public", "internal"} {
			if there[endpoint{id, side}] {
				continue
			}
			_, err := create(ctx, identity, "endpoints", "endpoint", map[string]any{
				"service_id": id, "interface": side, "region_id": configuration.Region, "url": "http://" + address +
					service.path,
			})
			if err != nil {
				return fmt.Errorf("register %s: %w", service.name, err)
			}
		}
	}
	return nil
}
