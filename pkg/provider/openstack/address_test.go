package openstack

import (
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/standin"
)

// A deletion learns from the cloud itself, before it begins, whether it can delete the address later.
func TestWhetherAnAddressCanBeDeleted(t *testing.T) {
	for name, tc := range map[string]struct {
		request string // that fails, with
		reply   standin.Reply
		none    bool // the cluster was given no address
		code    fault.Code
		says    string
	}{
		"the cloud answers": {},
		"the login is refused": {request: "login", reply: standin.Reply{Status: 401, Body: ""},
			code: fault.CloudRefused, says: "logging in"},
		"no list": {request: "GET /network/v2.0/floatingips", reply: standin.Reply{Status: 500, Body: ""},
			code: fault.CloudUnreachable, says: "list the floating IPs"},
		"no address, and no login": {request: "login", reply: standin.Reply{Status: 401, Body: ""}, none: true},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := standin.New(t, httptest.NewServer)
			of := cloud.Credentials(t)
			env := capo(t, shell(), "cluster.openstack.clouds_yaml_b64="+base64.StdEncoding.EncodeToString(of.Config),
				"cluster.openstack.cloud_name="+of.Name)
			if !tc.none {
				var err error
				if env, err = env.WithManagedAddress("203.0.113.1"); err != nil {
					t.Fatal(err)
				}
			}
			cloud.Lock()
			cloud.Answers["GET /network/v2.0/floatingips"] = standin.OK(standin.Object{"floatingips": []standin.Object{}})
			if tc.request != "" {
				cloud.Answers[tc.request] = tc.reply
			}
			cloud.Unlock()
			err := New(env).CheckDeleteAddress(t.Context())
			if fault.CodeOf(err) != tc.code || err != nil && (!strings.Contains(err.Error(), tc.says) ||
				fault.HintOf(err) == "") {
				t.Errorf("%v, code %s, hint %q; asked %q", err, fault.CodeOf(err), fault.HintOf(err), cloud.Asked)
			}
		})
	}
}
