//go:build openstack

// Package cleanup proves `cluster-init cleanup` against the services of a real OpenStack: CLUSTER_INIT_OPENSTACK is the
// path of a clouds.yaml with the entry admin, CLUSTER_INIT the binary. Each test has a project of its own.
package cleanup

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/openstack"
	"github.com/cluster-init/cluster-init/pkg/openstack/inventory"
)

// project is a project of OpenStack, its member, and the images and networks that all projects share.
type project struct {
	inventory.Project
	admin                   *openstack.Client
	clouds                  string // path of a clouds.yaml with one entry, of the member
	external, image, flavor string
	user                    string // the member's ID
}

// newProject makes a project with room for many resources, which goes with the test.
func newProject(t *testing.T) *project {
	t.Helper()
	path := os.Getenv("CLUSTER_INIT_OPENSTACK")
	if path == "" || os.Getenv("CLUSTER_INIT") == "" {
		t.Fatal("CLUSTER_INIT_OPENSTACK must be the path of a clouds.yaml with the entry admin, CLUSTER_INIT that of " +
			"the binary")
	}
	config, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &project{}
	if p.admin, err = openstack.Connect(t.Context(), openstack.Cloud{Name: "admin", Config: config}); err != nil {
		t.Fatal(err)
	}
	password := random(t)
	name := "cleanup-" + password[:8]
	id := p.call(t, p.admin.Identity, "POST", "projects", obj{"project": obj{"name": name}}).id("project")
	user := p.call(t, p.admin.Identity, "POST", "users",
		obj{"user": obj{"name": name, "password": password, "default_project_id": id}}).id("user")
	p.user = user
	t.Cleanup(func() { p.remove(t, id, user) })
	p.assign(t, "PUT", id, "member")
	p.call(t, p.admin.Compute, "PUT", "os-quota-sets/"+id,
		obj{"quota_set": obj{"instances": 500, "cores": 500, "ram": 5000000, "server_groups": 50}})
	p.call(t, p.admin.Network, "PUT", "quotas/"+id,
		obj{"quota": obj{"network": 100, "subnet": 100, "port": 900, "router": 100, "floatingip": 200,
			"security_group": 200, "security_group_rule": 900}})
	p.call(t, p.admin.BlockStorage, "PUT", "os-quota-sets/"+id,
		obj{"quota_set": obj{"volumes": 500, "gigabytes": 5000, "snapshots": 100}})
	p.external = p.call(t, p.admin.Network, "GET", "networks?router:external=true", nil).first("networks")
	p.image = p.call(t, p.admin.Image, "GET", "images?name=paper", nil).first("images")
	p.flavor = p.call(t, p.admin.Compute, "GET", "flavors/detail?sort_key=memory_mb&sort_dir=asc", nil).first("flavors")
	p.login(t, config, name, password)
	return p
}

// assign gives the project's user a role in it, or with DELETE takes it away.
func (p *project) assign(t *testing.T, method, id, role string) {
	t.Helper()
	found := p.call(t, p.admin.Identity, "GET", "roles?name="+role, nil).first("roles")
	p.call(t, p.admin.Identity, method, "projects/"+id+"/users/"+p.user+"/roles/"+found, nil)
}

// login connects as the project's member, and writes its clouds.yaml.
func (p *project) login(t *testing.T, admin []byte, name, password string) {
	t.Helper()
	var file struct {
		Clouds map[string]map[string]any `json:"clouds"`
	}
	if err := yaml.Unmarshal(admin, &file); err != nil {
		t.Fatal(err)
	}
	entry := file.Clouds["admin"]
	auth := entry["auth"].(map[string]any)
	auth["username"], auth["password"], auth["project_name"] = name, password, name
	config, err := yaml.Marshal(obj{"clouds": obj{"member": entry}})
	if err != nil {
		t.Fatal(err)
	}
	p.clouds = filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(p.clouds, config, 0o600); err != nil {
		t.Fatal(err)
	}
	if p.Client, err = openstack.Connect(t.Context(), openstack.Cloud{Name: "member", Config: config}); err != nil {
		t.Fatal(err)
	}
}

// remove takes away all that is left in the project, and the project. It runs after the test's context has ended.
func (p *project) remove(t *testing.T, id, user string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	for p.Client != nil && ctx.Err() == nil {
		found, err := p.Inventory(ctx)
		left := 0
		for _, r := range found.Resources {
			if r.Kind == openstack.KindSecurityGroup && r.Name == "default" {
				continue
			}
			left++
			_, _ = p.Delete(ctx, r) // what is in use goes in the next round
		}
		if err == nil && left == 0 && len(found.Unknown) == 0 {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	for _, path := range []string{"users/" + user, "projects/" + id} {
		if _, err := p.admin.Identity.Delete(ctx, p.admin.Identity.ServiceURL(path), nil); err != nil {
			t.Errorf("removing %s: %v", path, err)
		}
	}
}

// obj is a JSON object.
type obj = map[string]any

// reply is the body of an answer.
type reply map[string]json.RawMessage

// call sends one request and ends the test unless it goes well.
func (p *project) call(t *testing.T, service *gophercloud.ServiceClient, method, path string, body any) reply {
	t.Helper()
	var out reply
	options := &gophercloud.RequestOpts{JSONBody: body, OkCodes: []int{200, 201, 202, 204}}
	if method != http.MethodDelete && !(method == http.MethodPut && body == nil) {
		options.JSONResponse = &out
	}
	if _, err := service.Request(t.Context(), method, service.ServiceURL(path), options); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return out
}

// id returns the ID of the object in a reply.
func (r reply) id(key string) string {
	var one struct{ ID string }
	_ = json.Unmarshal(r[key], &one)
	if one.ID == "" {
		panic(fmt.Sprintf("no %s in %s", key, r))
	}
	return one.ID
}

// first returns the ID of the first object in a reply.
func (r reply) first(key string) string {
	var all []struct{ ID string }
	_ = json.Unmarshal(r[key], &all)
	if len(all) == 0 {
		panic("no " + key)
	}
	return all[0].ID
}

func random(t *testing.T) string {
	t.Helper()
	bytes := make([]byte, 12)
	if _, err := rand.Read(bytes); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(bytes)
}

// eventually waits until check is true.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	bound := time.After(3 * time.Minute)
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-bound:
			t.Fatalf("not within 3 minutes: %s", what)
		case <-tick.C:
		}
	}
}
