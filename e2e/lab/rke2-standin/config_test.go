package main

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// fromCAPRKE2 is a configuration as CAPRKE2 v0.21.0 writes it for the first server.
const fromCAPRKE2 = `
cni:
  - none
disable-cloud-controller: true
kube-apiserver-arg:
  - --anonymous-auth=true
  - audit-log-maxage=30
tls-san:
  - localhost
  - 172.18.0.3
cluster-cidr: 10.244.0.0/16
service-cidr: 10.96.0.0/16
etcd-disable-snapshots: true
token: s3cret
node-label:
  - a=b
node-taint: only=one:NoSchedule
`

func TestParseConfig(t *testing.T) {
	got, err := parse(t, fromCAPRKE2)
	want := config{
		token: "s3cret", clusterCIDR: "10.244.0.0/16", serviceCIDR: "10.96.0.0/16", clusterDomain: "cluster.local",
		tlsSan: []string{"localhost", "172.18.0.3"}, cni: []string{"none"},
		apiServerArgs: []string{"--anonymous-auth=true", "audit-log-maxage=30"},
		nodeLabels:    []string{"a=b"}, nodeTaints: []string{"only=one:NoSchedule"},
		ignored: []string{"etcd-disable-snapshots"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}

func TestParseConfigTakesDefaultsOfRKE2(t *testing.T) {
	got, err := parse(t, "server: https://172.18.0.3:9345\ndisable-kube-proxy: true\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.server != "https://172.18.0.3:9345" || got.clusterCIDR != "10.42.0.0/16" ||
		got.serviceCIDR != "10.43.0.0/16" || !got.disableKubeProxy {
		t.Errorf("got %+v", got)
	}
}

func TestParseConfigQuotesNothing(t *testing.T) {
	_, err := parse(t, "token: s3cret\n\tbroken")
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

// parse reads texts as config.yaml and the files of config.yaml.d.
func parse(t *testing.T, texts ...string) (config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	for i, text := range texts {
		name := file
		if i > 0 {
			name = filepath.Join(file+".d", fmt.Sprintf("%d.yaml", i))
		}
		if err := writeFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return readConfig(file)
}

func TestFurtherConfigurationWins(t *testing.T) {
	got, err := parse(t, "cni: canal\ntoken: one\n", "token: two\n",
		"disable-default-registry-endpoint: true\ningress-controller: none\n")
	if err != nil || got.token != "two" || !got.onlyMirrors || len(got.cni) != 1 || len(got.ignored) > 0 {
		t.Errorf("got %+v (%v)", got, err)
	}
	if _, err := parse(t, "token: one\n", "token: s3cret\n\tbroken"); err == nil ||
		strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "config.yaml.d") {
		t.Errorf("got %v", err)
	}
}

func TestParseToken(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	tests := map[string]struct {
		text string
		want joinToken
		fine bool
	}{
		"short":            {"s3cret", joinToken{password: "s3cret"}, true},
		"long":             {"K10" + hash + "::server:s3:cret", joinToken{password: "s3:cret", caHash: hash}, true},
		"only looks long":  {"K10abc", joinToken{password: "K10abc"}, true},
		"hash interrupted": {"K10ab::server:s3cret", joinToken{}, false},
		"no password":      {"K10" + hash + "::server:", joinToken{}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseToken(test.text)
			if got != test.want || (err == nil) != test.fine {
				t.Errorf("got %+v (%v)", got, err)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error quotes the token: %v", err)
			}
		})
	}
}

func TestServerTokenIsKept(t *testing.T) {
	p := paths{root: t.TempDir()}
	first, err := serverToken(p, config{})
	if err != nil || len(first.password) != 32 {
		t.Fatalf("got a token of %d characters (%v)", len(first.password), err)
	}
	if again, err := serverToken(p, config{}); err != nil || again != first {
		t.Errorf("a second start has another token (%v)", err)
	}
	if given, err := serverToken(p, config{token: "given"}); err != nil || given.password != "given" {
		t.Errorf("got %v (%v)", given, err)
	}
}
