package openstack

import (
	"strings"
	"testing"
)

func TestMessages(t *testing.T) {
	cases := map[string]string{
		`{"forbidden": {"code": 403, "message": "Quota exceeded\nfor cores"}}`:          "Quota exceeded for cores",
		`{"NeutronError": {"type": "OverQuota", "message": "over", "detail": ""}}`:      "over",
		`{"faultcode": "Client", "faultstring": "no load balancer", "debuginfo": null}`: "no load balancer",
		`{"message": "policy"}`:             "policy",
		`<html>X-Auth-Token: s3cret</html>`: "",
		`{"error": "s3cret"}`:               "",
		`{"badRequest": {"message": "` + strings.Repeat("x", 400) + `"}}`: strings.Repeat("x", longestMessage) + "…",
		"": "",
	}
	for body, want := range cases {
		if got := messageOf([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
