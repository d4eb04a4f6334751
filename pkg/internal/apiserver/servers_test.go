//go:build integration

package apiserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServersComeFromTheLabOrFromEnvtest(t *testing.T) {
	whole, controller, assets := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(whole, "kube-apiserver"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ binaries, assets, want, err string }{
		"the lab built all":                    {whole, assets, whole, ""},
		"the lab built the controller":         {controller, assets, assets, ""},
		"only setup-envtest":                   {"", assets, assets, ""},
		"neither":                              {"", "", "", BinariesVariable},
		"the controller, and no setup-envtest": {controller, "", "", "make envtest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(BinariesVariable, test.binaries)
			t.Setenv(AssetsVariable, test.assets)
			got, err := servers()
			if got != test.want {
				t.Errorf("the servers are in %q, want %q", got, test.want)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}
