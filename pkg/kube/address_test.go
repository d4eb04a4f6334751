package kube

import (
	"strings"
	"testing"
)

const withToken = `apiVersion: v1
kind: Config
clusters:
- name: c
  cluster: {server: "https://172.18.0.3:6443"}
contexts:
- name: c
  context: {cluster: c, user: u}
current-context: c
users:
- name: u
  user: {token: t}
`

func TestWithServerKeepsTheNameOfTheCertificate(t *testing.T) {
	named := strings.Replace(withToken, `6443"}`, `6443", tls-server-name: localhost}`, 1)
	cases := map[string]struct {
		kubeconfig, host, port string
		lines                  []string
	}{
		"a published port": {withToken, "127.0.0.1", "32768", []string{"server: https://127.0.0.1:32768",
			"tls-server-name: 172.18.0.3"}},
		"the port as it is": {withToken, "docker", "",
			[]string{"server: https://docker:6443", "tls-server-name: 172.18.0.3"}},
		"an IPv6 address": {withToken, "2001:db8::7", "1", []string{"server: https://[2001:db8::7]:1"}},
		"one that has been here": {named, "docker", "1",
			[]string{"server: https://docker:1", "tls-server-name: localhost"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := WithServer([]byte(tc.kubeconfig), tc.host, tc.port)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range append(tc.lines, "token: t") {
				if !strings.Contains(string(got), line) {
					t.Errorf("%q is not in\n%s", line, got)
				}
			}
		})
	}
	if _, err := WithServer([]byte("no kubeconfig"), "docker", "1"); err == nil {
		t.Error("a kubeconfig that is none is accepted")
	}
}
