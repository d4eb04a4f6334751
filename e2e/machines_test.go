//go:build e2e

package e2e

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"maps"
	"os/exec"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api/util/secret"
)

// machineSettings are settings of machines that can be seen in a container. net.core.somaxconn is the container's own.
func machineSettings() map[string]any {
	return map[string]any{"cluster": map[string]any{"security_profile": "stig", "machines": map[string]any{
		"files": []any{map[string]any{"path": "/opt/e2e/file", "content": "  {{ a }} and $${B}, $C\n",
			"permissions": "0640"}},
		"pre_commands": []any{"test -e /opt/e2e/file && test ! -e /etc/kubernetes/kubelet.conf && " +
			"touch /opt/e2e/before"},
		"post_commands": []any{"test -e /etc/kubernetes/kubelet.conf && touch /opt/e2e/after"},
		"sysctls":       map[string]any{"net.core.somaxconn": 4095}},
		"kubernetes": map[string]any{
			"api_server":   map[string]any{"extra_args": map[string]any{"event-ttl": "2h0m0s"}},
			"kubelet":      map[string]any{"extra_args": map[string]any{"max-pods": 99}},
			"cert_sans":    []any{"api.e2e.example.org"},
			"audit_policy": map[string]any{"rules": []any{map[string]any{"level": "Metadata"}}},
			"encryption_at_rest": map[string]any{"keys": []any{map[string]any{"name": "e2e",
				"secret": base64.StdEncoding.EncodeToString([]byte(strings.Repeat("key!", 8)))}}},
			"admission": map[string]any{"pod_security": map[string]any{"enforce": "baseline"}},
		}}}
}

// TestMatrixMachines gives machines files, commands and kernel parameters, and the control plane its settings: those of
// a management cluster by cloud-config, and those of a workload cluster by Ignition.
func TestMatrixMachines(t *testing.T) {
	l := newLab(t)
	l.needBundle(t)
	cleanBefore(t, l)
	values, login := machineSettings(), newIssuer(t)
	values["cluster"].(map[string]any)["kubernetes"].(map[string]any)["oidc"] = login.values()
	own := newAuthority(t)
	values["cluster"].(map[string]any)["certificate_authorities"] = own.values()
	settings := valuesFile(t, values)
	if code, _ := l.run(t, "up", environmentName, "--bundle", l.bundle, "--values", settings, "--set",
		"cluster.bootstrap_formats={ignition}"); code != 0 {
		t.Fatalf("up ended with %d", code)
	}
	l.management(t).managesItself(t)
	hasMachineSettings(t, controlPlane(t, l.name))
	hasKubernetesSettings(t, controlPlane(t, l.name))
	followsProfile(t, l, controlPlane(t, l.name))
	login.logsIn(t, l.kubeconfig(l.name))
	own.isIn(t, l.management(t), l.name)
	in, shop := []string{"--in", l.name}, workloadName+"/"+workloadName
	authority := newAuthority(t)
	authorities := valuesFile(t, map[string]any{"cluster": map[string]any{
		"certificate_authorities": authority.values()}})
	apply := append([]string{"workload", "apply"}, l.workloadDefinition("--values", settings, "--values", authorities,
		"--set", "cluster.bootstrap_format=ignition")...)
	if code, _ := l.run(t, apply...); code != 0 {
		t.Fatalf("workload apply ended with %d", code)
	}
	l.hasReadyNode(t, shop)
	hasMachineSettings(t, controlPlane(t, workloadName))
	hasKubernetesSettings(t, controlPlane(t, workloadName))
	if ca := docker(t, "exec", controlPlane(t, workloadName), "cat", "/etc/kubernetes/pki/ca.crt"); strings.TrimSpace(
		ca) != strings.TrimSpace(string(authority.GetByPurpose(secret.ClusterCA).KeyPair.Cert)) {
		t.Errorf("the workload cluster has another authority: %s", ca)
	}
	l.deleteWorkload(t, shop, in)
	cleanup(t, l)
}

// hasMachineSettings sees machineSettings in a machine.
func hasMachineSettings(t *testing.T, machine string) {
	t.Helper()
	got := map[string]string{}
	for name, command := range map[string]string{"file": "cat /opt/e2e/file", "mode": "stat -c %a:%U:%G /opt/e2e/file",
		"commands": "ls /opt/e2e", "sysctl": "cat /proc/sys/net/core/somaxconn"} {
		got[name] = strings.Join(strings.Fields(docker(t, "exec", machine, "sh", "-c", command)), " ")
	}
	want := map[string]string{"file": "{{ a }} and ${B}, $C", "mode": "640:root:root", "commands": "after before file",
		"sysctl": "4095"}
	if !maps.Equal(got, want) {
		t.Errorf("%s has %v, want %v", machine, got, want)
	}
}

// hasKubernetesSettings sees machineSettings in a control plane.
func hasKubernetesSettings(t *testing.T, machine string) {
	t.Helper()
	const kubectl = "KUBECONFIG=/etc/kubernetes/admin.conf kubectl "
	const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"e2e"},"spec":{"hostNetwork":true,` +
		`"containers":[{"name":"a","image":"a"}]}}`
	hasArguments(t, machine)
	has(t, machine, map[string]string{
		"the audit log": `grep -m1 '"resource":"secrets"' /var/log/kubernetes/audit/audit.log`,
		"an encrypted Secret": kubectl + "create secret generic e2e --from-literal=text=readable-$((40+2)) && " +
			kubectl + "get secret e2e -o 'jsonpath={.data.text}' | base64 -d | grep -x readable-42 && " +
			"! grep -rqa readable-42 /var/lib/etcd/member && grep -rqa k8s:enc:secretbox:v1:e2e: /var/lib/etcd/member",
		"pod security": "echo '" + pod + "' | " + kubectl +
			"create -f - 2>&1 | grep 'violates PodSecurity'",
	})
	block, _ := pem.Decode([]byte(docker(t, "exec", machine, "cat", "/etc/kubernetes/pki/apiserver.crt")))
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := certificate.VerifyHostname("api.e2e.example.org"); err != nil {
		t.Errorf("the certificate of %s: %v", machine, err)
	}
}

// hasArguments sees the arguments of machineSettings in a control plane.
func hasArguments(t *testing.T, machine string) {
	t.Helper()
	argument := func(process, text string) string {
		return "tr '\\0' '\\n' </proc/$(pgrep -ox " + process + ")/cmdline | grep -x -- " + text
	}
	has(t, machine, map[string]string{"an argument of the API server": argument("kube-apiserver", "--event-ttl=2h0m0s"),
		"an argument of kubelet": argument("kubelet", "--max-pods=99")})
}

// has runs commands in a machine, each for what is missing if it fails.
func has(t *testing.T, machine string, commands map[string]string) {
	t.Helper()
	for name, command := range commands {
		if out, err := exec.CommandContext(t.Context(), "docker", "exec", machine, "sh", "-c",
			command).CombinedOutput(); err != nil {
			t.Errorf("%s lacks %s: %v: %s", machine, name, err, out)
		}
	}
}

// followsProfile sees that neither check nor status has anything to say about the security profile, and that files of
// kubeadm are root's alone.
func followsProfile(t *testing.T, l lab, machine string) {
	t.Helper()
	code, out := l.run(t, "status", environmentName)
	if code != 0 || strings.Contains(out, "security profile") {
		t.Errorf("status ended with %d: %s", code, out)
	}
	has(t, machine, map[string]string{"kubelet's configuration for root alone": "test $(stat -c %a " +
		"/var/lib/kubelet/config.yaml) = 600 && test $(stat -c %a /etc/kubernetes/pki/apiserver.crt) = 600"})
}
