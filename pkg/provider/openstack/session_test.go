package openstack

import (
	"encoding/base64"
	"net/http/httptest"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/standin"
)

// A run logs in once, whatever it then asks; a login that failed is not kept.
func TestARunLogsInOnce(t *testing.T) {
	cloud := standin.New(t, httptest.NewServer)
	of := cloud.Credentials(t)
	p := New(capo(t, shell(), "cluster.openstack.clouds_yaml_b64="+base64.StdEncoding.EncodeToString(of.Config),
		"cluster.openstack.cloud_name="+of.Name))
	cloud.Lock()
	cloud.Answers["login"] = standin.Reply{Status: 401, Body: ""}
	cloud.Unlock()
	if _, err := p.Leftovers(t.Context()); fault.CodeOf(err) != fault.CloudRefused {
		t.Errorf("a login that is refused: %v", err)
	}
	cloud.Lock()
	delete(cloud.Answers, "login")
	cloud.Unlock()
	for range 3 {
		if _, err := p.Leftovers(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if cloud.Logins != 1 {
		t.Errorf("%d logins", cloud.Logins)
	}
}
