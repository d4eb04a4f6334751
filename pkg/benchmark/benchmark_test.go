package benchmark_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/benchmark"
)

// good are arguments that pass all checks of their component.
var good = map[benchmark.Component][]string{
	benchmark.APIServer: {"enable-admission-plugins=NodeRestriction,DenyServiceExternalIPs",
		"authorization-mode=Node,RBAC", "profiling=false", "audit-log-path=/a", "audit-log-maxage=30",
		"audit-log-maxbackup=10", "audit-log-maxsize=100", "service-account-key-file=/a", "etcd-certfile=/a",
		"tls-cert-file=/a", "client-ca-file=/a", "etcd-cafile=/a", "encryption-provider-config=/a",
		"tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "service-account-extend-token-expiration=false"},
	benchmark.ControllerManager: {"terminated-pod-gc-threshold=10", "profiling=false",
		"use-service-account-credentials", "service-account-private-key-file=/a", "root-ca-file=/a"},
	benchmark.Scheduler: {"profiling=false", "bind-address=127.0.0.1"},
}

// pod is a static Pod with arguments.
func pod(component benchmark.Component, arguments ...string) *unstructured.Unstructured {
	command := []any{string(component)}
	for _, argument := range arguments {
		command = append(command, "--"+argument)
	}
	return &unstructured.Unstructured{Object: map[string]any{"kind": "Pod",
		"metadata": map[string]any{"name": string(component) + "-one", "labels": map[string]any{
			"component": string(component), "tier": "control-plane"}},
		"spec": map[string]any{"containers": []any{map[string]any{"command": command}}}}}
}

// failedOf returns the identifiers of the checks that arguments do not pass.
func failedOf(arguments benchmark.Arguments) []string {
	failed, _ := benchmark.Evaluate(arguments, benchmark.CIS.OfRunning())
	var ids []string
	for _, f := range failed {
		ids = append(ids, f.ID)
	}
	return ids
}

// Each check fails for its own argument, and for no other.
func TestPods(t *testing.T) {
	for name, tc := range map[string]struct {
		component benchmark.Component
		argument  string // in place of the good one
		want      []string
	}{
		"the API server as it should be": {benchmark.APIServer, "", nil},
		"the controller manager":         {benchmark.ControllerManager, "", nil},
		"the scheduler":                  {benchmark.Scheduler, "", nil},
		"profiling":                      {benchmark.APIServer, "profiling=true", []string{"1.2.15"}},
		"profiling without a value":      {benchmark.Scheduler, "profiling", []string{"1.4.1"}},
		"anybody may do anything": {benchmark.APIServer, "authorization-mode=AlwaysAllow",
			[]string{"1.2.6", "1.2.7", "1.2.8"}},
		"a plugin that is a part of another's name": {benchmark.APIServer,
			"enable-admission-plugins=NodeRestrictions,DenyServiceExternalIPs", []string{"1.2.14"}},
		"a short memory":     {benchmark.APIServer, "audit-log-maxage=29", []string{"1.2.17"}},
		"a text as a number": {benchmark.APIServer, "audit-log-maxsize=100M", []string{"1.2.19"}},
		"a weak cipher": {benchmark.APIServer, "tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256," +
			"TLS_RSA_WITH_AES_128_CBC_SHA", []string{"1.2.29"}},
		"without a plugin":    {benchmark.APIServer, "disable-admission-plugins=ServiceAccount", []string{"1.2.12"}},
		"for all networks":    {benchmark.Scheduler, "bind-address=0.0.0.0", []string{"1.4.2"}},
		"the last one counts": {benchmark.ControllerManager, "profiling=true", []string{"1.3.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			arguments := slices.Clone(good[tc.component])
			if tc.argument != "" {
				arguments = append(arguments, tc.argument)
			}
			all := benchmark.OfPods([]*unstructured.Unstructured{pod(tc.component, arguments...), pod("etcd")})
			if got := failedOf(all[string(tc.component)+"-one"]); len(all) != 1 || !slices.Equal(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
	bare := benchmark.OfPods([]*unstructured.Unstructured{pod(benchmark.Scheduler)})
	if got := failedOf(bare["kube-scheduler-one"]); !slices.Equal(got, []string{"1.4.1"}) {
		t.Errorf("a scheduler without arguments fails %v", got)
	}
}

// A kubelet's configuration is checked as its arguments would be.
func TestKubelet(t *testing.T) {
	const configuration = `
authentication: {anonymous: {enabled: false}, x509: {clientCAFile: /a}}
authorization: {mode: Webhook}
streamingConnectionIdleTimeout: 4h0m0s
rotateCertificates: true
tlsCipherSuites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
podPidsLimit: 4096
seccompDefault: false # --seccomp-default does not change it
`
	for name, tc := range map[string]struct {
		change string
		want   []string
	}{
		"as it should be":     {"", nil},
		"without limits":      {"podPidsLimit: -1", []string{"4.2.13"}},
		"for anybody":         {"authentication: {anonymous: {enabled: true}}", []string{"4.2.1"}},
		"a port without auth": {"readOnlyPort: 10255", []string{"4.2.4"}},
	} {
		t.Run(name, func(t *testing.T) {
			var values, change map[string]any
			if err := yaml.Unmarshal([]byte(configuration), &values); err != nil {
				t.Fatal(err)
			}
			if err := yaml.Unmarshal([]byte(tc.change), &change); err != nil {
				t.Fatal(err)
			}
			for key, value := range change {
				if nested, is := value.(map[string]any); is {
					for inner, v := range nested {
						values[key].(map[string]any)[inner] = v
					}
					continue
				}
				values[key] = value
			}
			if got := failedOf(benchmark.OfKubelet(values)); !slices.Equal(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

// What a check says names the recommendation, what is, and what should be.
func TestFailedText(t *testing.T) {
	failed, made := benchmark.Evaluate(benchmark.Arguments{benchmark.Scheduler: {"profiling": "true"}},
		benchmark.CIS.OfDefinition())
	if made != 2 || len(failed) != 1 ||
		failed[0].String() != `1.4.1 kube-scheduler: --profiling is "true", want that it is false` {
		t.Errorf("%d made, failed %v", made, failed)
	}
	failed, _ = benchmark.Evaluate(benchmark.Arguments{benchmark.Scheduler: {}}, benchmark.CIS.Checks())
	if len(failed) != 1 || !strings.Contains(failed[0].String(), "--profiling is not set") {
		t.Errorf("%v", failed)
	}
}

// The page for users has each check.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides/security-profile.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, check := range slices.Concat(benchmark.CIS.Checks(), benchmark.STIG.Checks()) {
		by := "kubeadm, RKE2"
		if check.Set {
			by = "the profile"
		}
		row := fmt.Sprintf("| %s | %s | `--%s` %s | %s |\n", check.ID, check.Component, check.Argument, check.Want, by)
		if !strings.Contains(string(page), row) {
			t.Errorf("the page has no row %s", row)
		}
	}
}

// What a profile does not know has no checks.
func TestProfiles(t *testing.T) {
	for profile, want := range map[benchmark.Profile]bool{"": false, "default": false, "cis": true, "stig": true} {
		if (profile.Name() != "") != want || (len(profile.Checks()) > 0) != want {
			t.Errorf("%q has the name %q and %d checks", profile, profile.Name(), len(profile.Checks()))
		}
	}
	arguments := benchmark.Arguments{benchmark.APIServer: {"tls-min-version": "VersionTLS11", "request-timeout": "0s",
		"token-auth-file": "/a", "authorization-mode": "Node,RBAC"}}
	failed, _ := benchmark.Evaluate(arguments, benchmark.STIG.Checks())
	var ids []string
	for _, f := range failed {
		ids = append(ids, f.ID)
	}
	for _, want := range []string{"CNTR-K8-000170", "CNTR-K8-002600", "CNTR-K8-002630"} {
		if !slices.Contains(ids, want) {
			t.Errorf("%s is not among %v", want, ids)
		}
	}
	if slices.Contains(ids, "CNTR-K8-000270") {
		t.Error("Node,RBAC is refused")
	}
}
