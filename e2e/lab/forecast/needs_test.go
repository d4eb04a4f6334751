package main

import (
	"os"
	"strings"
	"testing"
)

func TestNeedsOfOpenStack(t *testing.T) {
	if got := needs([]string{"kubeadm-capd"}, os.Getenv); got != "" {
		t.Errorf("kubeadm-capd needs %q", got)
	}
	set := map[string]string{"OS_CLOUD": "telco", "OPENSTACK_IMAGE_NAME": "ubuntu"}
	got := needs([]string{"kubeadm-capo"}, func(name string) string { return set[name] })
	_, unset, _ := strings.Cut(got, "not set in this shell: ")
	for _, variable := range openstackVariables {
		if missing := variable != "OPENSTACK_IMAGE_NAME"; strings.Contains(unset, variable) != missing {
			t.Errorf("%s is reported as not set: %v, want %v\n%s", variable, !missing, missing, got)
		}
	}
	if strings.Contains(unset, "OS_CLOUD") || !strings.Contains(got, "--source-url") {
		t.Errorf("needs:\n%s", got)
	}
	for _, variable := range openstackVariables {
		set[variable] = "set"
	}
	if got := needs([]string{"kubeadm-capo"}, func(name string) string { return set[name] }); strings.Contains(got,
		"not set") {
		t.Errorf("all is set:\n%s", got)
	}
	page, err := os.ReadFile("../../../docs/environments/kubeadm-capo.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range openstackVariables {
		if !strings.Contains(string(page), "`"+variable+"`") {
			t.Errorf("%s is not on the page of the environment", variable)
		}
	}
}

func TestABundleIsBuiltWithRootAndApt(t *testing.T) {
	if err := canBuild(0, true, false); err != nil {
		t.Errorf("with root and apt-get: %v", err)
	}
	if err := canBuild(0, false, true); err == nil || strings.Contains(err.Error(), "registry") {
		t.Errorf("without apt-get, chosen: %v", err)
	}
	if err := canBuild(1000, true, false); err == nil || !strings.Contains(err.Error(), "no container registry answers") {
		t.Errorf("without root: %v", err)
	}
}
