package oci_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/oci"
)

// A token may be in any part of an address but its host and path.
func TestRedacted(t *testing.T) {
	for address, want := range map[string]string{
		"https://host/x.yaml":                      "https://host/x.yaml",
		"https://s3cret@host/x.yaml":               "https://xxxxx@host/x.yaml",
		"https://s3cret:x-oauth-basic@host/x.yaml": "https://xxxxx@host/x.yaml",
		"https://me:s3cret@host/x.yaml":            "https://xxxxx@host/x.yaml",
		"https://host/x.yaml?private_token=s3cret": "https://host/x.yaml?xxxxx",
		"https://host/x.yaml#s3cret":               "https://host/x.yaml#xxxxx",
		"ssh://git@host/x":                         "ssh://git@host/x",
		"ssh://git:s3cret@host/x":                  "ssh://git:xxxxx@host/x",
		"oci://s3cret@host/x":                      "oci://xxxxx@host/x",
		"me:s3cret@host/x":                         "(address that is no URL)",
		"s3cret@host/x":                            "(address that is no URL)",
		"//s3cret@host/x":                          "//xxxxx@host/x",
		"https://s3cret\x7f@host/x":                "(address that is no URL)",
	} {
		if got := oci.Redacted(address); got != want || strings.Contains(got, "s3cret") {
			t.Errorf("%s became %s, want %s", address, got, want)
		}
	}
}
