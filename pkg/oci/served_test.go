package oci_test

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/oci"
)

// serving is a registry with images.
func serving(t *testing.T, repositories ...string) (host string) {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	host = strings.TrimPrefix(s.URL, "http://")
	for _, repository := range repositories {
		ref, err := name.NewTag(host+"/"+repository+":v1", name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		image, err := random.Image(10, 1)
		if err == nil {
			err = remote.Write(ref, image)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return host
}

// Where a node finds an image, it is served; where a mirror keeps a node from the original, that is not asked.
func TestServed(t *testing.T) {
	original, mirror := serving(t, "capi/manager"), serving(t, "capi/manager", "k8s/capi/manager")
	nowhere := "127.0.0.1:1"
	for name, tc := range map[string]struct {
		image      string
		mirrors    []oci.Mirror
		says       string // of the error; empty: it is served
		notChecked bool
	}{
		"by its own registry": {original + "/capi/manager:v1", nil, "", false},
		"not in its registry": {original + "/capi/manager:v2", nil, "image " + original +
			"/capi/manager:v2: ", false},
		"its registry is not there": {nowhere + "/capi/manager:v1", nil, "image " + nowhere, false},
		"by a mirror": {nowhere + "/capi/manager:v1",
			[]oci.Mirror{{Host: nowhere, URL: "http://" + mirror}}, "", false},
		"by a mirror with a path": {nowhere + "/capi/manager:v1",
			[]oci.Mirror{{Host: nowhere, URL: "http://" + mirror + "/v2/k8s", OverridePath: true}}, "", false},
		"by the mirror of all others": {nowhere + "/capi/manager:v1",
			[]oci.Mirror{{Host: "_default", URL: "http://" + mirror}}, "", false},
		"the mirror lacks it, the original does not": {original + "/capi/manager:v1",
			[]oci.Mirror{{Host: original, URL: "http://" + mirror + "/v2/other", OverridePath: true}}, "", false},
		"the mirror lacks it, and keeps from it": {original + "/capi/manager:v1",
			[]oci.Mirror{{Host: original, URL: "http://" + mirror + "/v2/other", OverridePath: true, Only: true}},
			"at its mirror http://" + mirror, false},
		"a path that only containerd knows": {nowhere + "/capi/manager:v1",
			[]oci.Mirror{{Host: nowhere, URL: "http://" + mirror + "/cache", Only: true}}, "only containerd can read", true},
		"a path without its root": {nowhere + "/capi/manager:v1",
			[]oci.Mirror{{Host: nowhere, URL: "http://" + mirror + "/v2/k8s", Only: true}}, "only containerd can read", true},
		"a slash at the end": {nowhere + "/capi/manager:v1",
			[]oci.Mirror{{Host: nowhere, URL: "http://" + mirror + "/"}}, "", false},
		"a mirror without a dot": {original + "/capi/manager:v1",
			[]oci.Mirror{{Host: original, URL: "http://harbor", Only: true}}, "harbor", false},
		"a password in the mirror's address": {original + "/capi/manager:v1",
			[]oci.Mirror{{Host: original, URL: "http://me:pass5word@127.0.0.1:1", Only: true}}, "at its mirror http://",
			false},
		"no name of an image": {"UPPER/x:v1", nil, `image "UPPER/x:v1"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := oci.Served(context.Background(), tc.image, tc.mirrors, "", authn.DefaultKeychain)
			if (err == nil) != (tc.says == "") || err != nil && (!strings.Contains(err.Error(), tc.says) ||
				fault.CodeOf(err) != fault.SourceUnreadable || fault.HintOf(err) == "") {
				t.Errorf("%v, want %q", err, tc.says)
			}
			if err != nil && (strings.Contains(err.Error(), "pass5word") ||
				strings.Contains(err.Error(), "docker.io")) {
				t.Errorf("a password, or Docker Hub in place of a host: %v", err)
			}
			if errors.Is(err, oci.ErrNotSupported) != tc.notChecked {
				t.Errorf("it could not be asked: %v", err)
			}
		})
	}
}

// A mirror, and a registry, whose authority is private is asked with the certificates that nodes have for it.
func TestServedByAPrivateAuthority(t *testing.T) {
	s := httptest.NewTLSServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	host := strings.TrimPrefix(s.URL, "https://")
	ref, err := name.NewTag(host + "/a:v1")
	if err != nil {
		t.Fatal(err)
	}
	image, err := random.Image(10, 1)
	if err == nil {
		err = remote.Write(ref, image, remote.WithTransport(s.Client().Transport))
	}
	if err != nil {
		t.Fatal(err)
	}
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	mirror := oci.Mirror{Host: "example.org", URL: s.URL, Only: true}
	withCA := mirror
	withCA.CA = ca
	for name, tc := range map[string]struct {
		image, ca string
		mirror    oci.Mirror
		served    bool
	}{
		"a mirror without its authority":          {"example.org/a:v1", "", mirror, false},
		"a mirror with its authority":             {"example.org/a:v1", "", withCA, true},
		"a mirror whose authority all nodes have": {"example.org/a:v1", ca, mirror, true},
		"a registry without its authority":        {host + "/a:v1", "", mirror, false},
		"a registry whose authority nodes have":   {host + "/a:v1", ca, mirror, true},
		"another registry's authority":            {host + "/a:v1", "", withCA, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := oci.Served(t.Context(), tc.image, []oci.Mirror{tc.mirror}, tc.ca, authn.DefaultKeychain)
			if (err == nil) != tc.served {
				t.Errorf("served: %v, want %t", err, tc.served)
			}
		})
	}
}
