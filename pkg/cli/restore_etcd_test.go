package cli

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/internal/kubeconfig"
)

// etcdBackup writes a backup with a snapshot, of a cluster with this kind of infrastructure.
func etcdBackup(t *testing.T, kind string) string {
	t.Helper()
	database := bytes.Repeat([]byte{7}, 1<<10)
	digest := sha256.Sum256(database)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2",
		"kind": "Cluster", "metadata": map[string]any{"namespace": "ns", "name": "mgmt"},
		"spec": map[string]any{"infrastructureRef": map[string]any{"kind": kind, "name": "mgmt"}}}}
	staged, err := backup.Stage(t.TempDir(), backup.Content{
		Manifest: backup.Manifest{Created: at, CreatedBy: "v1", Namespace: "ns", Cluster: "mgmt",
			Identity: backup.IdentityOf(kubeconfig.Authority(t, "mgmt")),
			Etcd: &backup.EtcdSnapshot{Version: "3.6.8", Taken: at,
				Members: []backup.EtcdMember{{Name: "mgmt-a", Address: "10.0.0.4"}}}},
		Sections: map[backup.Section][]*unstructured.Unstructured{backup.Objects: {cluster}},
		Snapshot: slices.Concat(database, digest[:])}, backup.Recipients{}, backup.Signer{})
	if err != nil {
		t.Fatal(err)
	}
	if err := staged.Publish(); err != nil {
		t.Fatal(err)
	}
	return staged.Path
}

// An ssh that does not fit the cluster is refused before anything is reached. The stand-in for ssh on PATH records that
// it was started.
func TestRestoreEtcdRefusesAnAccessThatDoesNotFit(t *testing.T) {
	folder := t.TempDir()
	started := filepath.Join(folder, "started")
	if err := os.WriteFile(filepath.Join(folder, "ssh"), []byte("#!/bin/sh\ntouch "+started+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("HOME", folder)
	t.Setenv("XDG_STATE_HOME", folder)
	t.Chdir(folder) // no clouds.yaml
	for _, name := range []string{"OS_CLOUD", "OS_AUTH_URL", "OPENSTACK_CLOUD", "OPENSTACK_CLOUD_YAML_B64",
		"OS_CLIENT_CONFIG_FILE"} {
		t.Setenv(name, "")
	}
	silent := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(silent, kubeconfig.Of(t, "mgmt", "https://127.0.0.1:1"), 0o600); err != nil {
		t.Fatal(err)
	}
	const to = "ubuntu@192.0.2.7"
	for name, tc := range map[string]struct {
		kind string
		args []string
		code fault.Code
		hint string
	}{
		"OpenStack without --ssh": {"OpenStackCluster", []string{"--etcd"}, fault.Usage, "--ssh USER@ADDRESS"},
		"Docker with --ssh":       {"DevCluster", []string{"--etcd", "--ssh", to}, fault.Usage, "Leave out --ssh"},
		"AWS":                     {"AWSCluster", []string{"--etcd", "--ssh", to}, fault.RestoreRefused, "without --etcd"},
		"an empty destination":    {"OpenStackCluster", []string{"--etcd", "--ssh="}, fault.Usage, "USER@ADDRESS"},
		"an option of ssh": {"OpenStackCluster", []string{"--etcd", "--ssh=-oProxyCommand=id"}, fault.Usage,
			"USER@ADDRESS"},
		"two words":      {"OpenStackCluster", []string{"--etcd", "--ssh", "a@b id"}, fault.Usage, "USER@ADDRESS"},
		"without --etcd": {"OpenStackCluster", []string{"--ssh", to}, fault.Usage, "add --etcd"},
		"no credentials": {"OpenStackCluster", []string{"--etcd", "--ssh", to}, fault.CredentialsMissing, "OS_CLOUD"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, narration bytes.Buffer
			c := newRestore(Streams{Out: &out, Err: &narration})
			c.SetArgs(append([]string{etcdBackup(t, tc.kind), "--force", "mgmt", "--kubeconfig", silent}, tc.args...))
			err := c.ExecuteContext(t.Context())
			if fault.CodeOf(err) != tc.code || !strings.Contains(fault.HintOf(err), tc.hint) {
				t.Errorf("%v, hint %q", err, fault.HintOf(err))
			}
			if _, err := os.Stat(started); err == nil {
				t.Error("ssh was started")
			}
		})
	}
}

// Another management cluster that does not answer would have its workload clusters paused, and those of the restored
// one would not.
func TestRestoreEtcdRefusesTheKubeconfigOfAnotherCluster(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("XDG_STATE_HOME", folder)
	for _, authority := range []string{"another", ""} {
		file := filepath.Join(folder, "kubeconfig")
		if err := os.WriteFile(file, kubeconfig.Of(t, authority, "https://127.0.0.1:1"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, narration bytes.Buffer
		c := newRestore(Streams{Out: &out, Err: &narration})
		c.SetArgs([]string{etcdBackup(t, "DevCluster"), "--etcd", "--force", "mgmt", "--kubeconfig", file})
		err := c.ExecuteContext(t.Context())
		if fault.CodeOf(err) != fault.RestoreRefused || !strings.Contains(err.Error(), file+" is not of that cluster") {
			t.Errorf("authority %q: %v", authority, err)
		}
	}
}
