package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestVersionSaysWhatThisIs(t *testing.T) {
	var out bytes.Buffer
	if err := run(context.Background(), []string{"--version"}, &out); err != nil {
		t.Fatal(err)
	}
	want := "rke2 version " + release +
		"-standin (cluster-init's lab stand-in, not RKE2: kubeadm behind RKE2's files " +
		"and ports)\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if got := kubernetesVersion(); got != "v0.0.0" {
		t.Errorf("Kubernetes version of %s: %s", release, got)
	}
}

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, args := range [][]string{nil, {"etcd-snapshot"}, {"server", "--cluster-reset"}} {
		err := run(context.Background(), args, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), "usage:") {
			t.Errorf("%q: got %v", args, err)
		}
	}
}
