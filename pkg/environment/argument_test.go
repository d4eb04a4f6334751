package environment

import "testing"

func TestArgument(t *testing.T) {
	for argument, want := range map[string]string{
		"kubeadm-capd": "kubeadm-capd", "./edge-site": "./edge-site", "/srv/edge site": "'/srv/edge site'",
		"./it's": `'./it'\''s'`, "./$(rm)": "'./$(rm)'", "": "edge",
	} {
		if got := (&Environment{name: "edge", argument: argument}).Argument(); got != want {
			t.Errorf("%q is named %q, want %q", argument, got, want)
		}
	}
}
