package resource

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/configuration"
)

// MakeProject makes a project with a user of the same name, who has the roles of a
// member in it, and with generous quotas.
func MakeProject(ctx context.Context, installation configuration.Installation, login Login) error {
	admin, err := connect(ctx, installation, Admin(installation))
	if err != nil {
		return err
	}
	if err := ensureLogin(ctx, admin.identity, login, memberRoles()...); err != nil {
		return err
	}
	return setQuotas(ctx, admin, login.Project, generous())
}

// RemoveProject deletes a project, its user and all that is in it. What is not there is no error.
func RemoveProject(ctx context.Context, installation configuration.Installation, login Login) error {
	admin, err := connect(ctx, installation, Admin(installation))
	if err != nil {
		return err
	}
	project, err := find(ctx, admin.identity, "projects", "projects", login.Project)
	if err != nil {
		return err
	}
	if project != "" {
		own, err := connect(ctx, installation, login)
		if err != nil {
			return err
		}
		if err := empty(ctx, own, project); err != nil {
			return fmt.Errorf("empty project %s: %w", login.Project, err)
		}
		if err := deleteQuotas(ctx, admin, project); err != nil {
			return err
		}
	}
	user, err := find(ctx, admin.identity, "users", "users", login.User)
	if err != nil {
		return err
	}
	if err := remove(ctx, admin.identity, "users", user); err != nil {
		return err
	}
	if err := remove(ctx, admin.identity, "projects", project); err != nil {
		return err
	}
	return removeDefaultGroup(ctx, admin.network, project)
}

// removeDefaultGroup deletes the security group that neutron makes for each project: only an administrator may, and it
// comes back as long as a test uses groups in the project's name.
func removeDefaultGroup(ctx context.Context, network *gophercloud.ServiceClient, project string) error {
	if project == "" {
		return nil
	}
	groups, err := list[item](ctx, network, "security-groups?project_id="+project, "security_groups")
	if err != nil {
		return err
	}
	for _, group := range groups {
		if err := remove(ctx, network, "security-groups", group.ID); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes one resource. One that is not there, or has no id, is no error.
func remove(ctx context.Context, client *gophercloud.ServiceClient, path, id string) error {
	if id == "" {
		return nil
	}
	_, err := client.Delete(ctx, client.ServiceURL(path, id), accept(http.StatusOK, http.StatusAccepted,
		http.StatusNoContent))
	if err != nil && !notFound(err) {
		return fmt.Errorf("delete %s %s: %w", path, id, err)
	}
	return nil
}
