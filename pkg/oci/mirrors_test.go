package oci

import (
	"slices"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestParseMirrors(t *testing.T) {
	cases := []struct {
		flag string
		want Mirror
		err  string
	}{
		{"registry.k8s.io=https://mirror.example", Mirror{Host: "registry.k8s.io", URL: "https://mirror.example"}, ""},
		{"docker.io=http://10.0.0.1:5000/", Mirror{Host: "docker.io", URL: "http://10.0.0.1:5000"}, ""},
		{"quay.io=https://harbor.example/v2/quay-proxy",
			Mirror{Host: "quay.io", URL: "https://harbor.example/v2/quay-proxy", OverridePath: true}, ""},
		{"quay.io=https://art.example/quay", Mirror{Host: "quay.io", URL: "https://art.example/quay"}, ""},
		{"quay.io=https://m.example/v2/", Mirror{Host: "quay.io", URL: "https://m.example"}, ""},
		{"reg.example:5000=https://m.example", Mirror{Host: "reg.example:5000", URL: "https://m.example"}, ""},
		{"registry.k8s.io", Mirror{}, "no '='"},
		{"=https://m.example", Mirror{}, "not a registry host"},
		{"https://quay.io=https://m.example", Mirror{}, "not a registry host"},
		{"../etc=https://m.example", Mirror{}, "not a registry host"},
		{"quay.io=m.example", Mirror{}, "http:// or https://"},
		{"quay.io=https://", Mirror{}, "no host"},
		{"quay.io=https://u:s3cret@m.example", Mirror{}, "credentials"},
		{"quay.io=https://m.example?x=y", Mirror{}, "query"},
		{"quay.io=http://m example", Mirror{}, "does not parse"},
	}
	for _, tc := range cases {
		t.Run(tc.flag, func(t *testing.T) {
			got, err := ParseMirrors([]string{tc.flag})
			if tc.err == "" {
				if err != nil || len(got) != 1 || got[0] != tc.want {
					t.Errorf("got %+v, %v, want %+v", got, err, tc.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("error %v lacks %q", err, tc.err)
			}
			if fault.CodeOf(err) != fault.Usage || fault.HintOf(err) == "" || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %q, code %s, hint %q", err, fault.CodeOf(err), fault.HintOf(err))
			}
		})
	}
	if _, err := ParseMirrors([]string{"quay.io=https://a.example", "quay.io=https://b.example"}); err == nil {
		t.Error("one host with two mirrors was taken")
	}
}

func TestBundleMirrors(t *testing.T) {
	got, err := BundleMirrors("c-registry:5000", []string{
		"registry.k8s.io/a/b:v1", "kindest/node:v1", "registry.k8s.io/c:v1", "busybox:1", "reg.example:5000/x:v1",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []Mirror{
		{Host: "_default", URL: "http://c-registry:5000/v2/_default", OverridePath: true, Only: true},
		{Host: "docker.io", URL: "http://c-registry:5000/v2/docker.io", OverridePath: true, Only: true},
		{Host: "reg.example:5000", URL: "http://c-registry:5000/v2/reg.example-5000", OverridePath: true, Only: true},
		{Host: "registry.k8s.io", URL: "http://c-registry:5000/v2/registry.k8s.io", OverridePath: true, Only: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestHostsTOML(t *testing.T) {
	cases := []struct {
		name   string
		mirror Mirror
		want   string
	}{
		{"user's mirror", Mirror{URL: "https://m.example"}, `[host."https://m.example"]
capabilities = ["pull", "resolve"]
`},
		{"with path", Mirror{URL: "https://m.example/v2/p", OverridePath: true}, `[host."https://m.example/v2/p"]
capabilities = ["pull", "resolve"]
override_path = true
`},
		{"bundle", Mirror{URL: "http://r:5000/v2/quay.io", OverridePath: true, Only: true},
			`server = "http://r:5000/v2/quay.io"
capabilities = ["pull", "resolve"]
override_path = true
`},
	}
	for _, tc := range cases {
		if got := tc.mirror.HostsTOML(); got != tc.want {
			t.Errorf("%s:\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
}
