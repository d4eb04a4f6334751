package restore

import "testing"

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{"/srv/new.kubeconfig": "/srv/new.kubeconfig", "": "''",
		"/srv/my files/k": "'/srv/my files/k'", "a'; reboot #": `'a'\''; reboot #'`, "a$(id)b": "'a$(id)b'"} {
		if got := shellWord(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
