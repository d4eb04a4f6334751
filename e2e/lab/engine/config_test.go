package engine

import (
	"encoding/json"
	"testing"
)

func TestHasCapability(t *testing.T) {
	tests := map[string]struct {
		status string
		want   bool
	}{
		"all":     {"Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n", true},
		"without": {"CapEff:\t000001ffffffffff\nCapBnd:\t000001fffeffffff\n", false},
		"no line": {"Name:\tx\n", false},
		"broken":  {"CapBnd:\tzz\n", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hasCapability(test.status, capSysResource); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestDaemonConfigKeepsTheUsersSettings(t *testing.T) {
	user := []byte(`{"data-root":"/big","runtimes":{"nvidia":{"path":"nv"}},"default-runtime":"nvidia"}`)
	content, err := daemonConfig(user, "/cache/runtime-shim")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		DataRoot       string                           `json:"data-root"`
		DefaultRuntime string                           `json:"default-runtime"`
		Runtimes       map[string]struct{ Path string } `json:"runtimes"`
	}
	if err := json.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	if config.DataRoot != "/big" || config.Runtimes["nvidia"].Path != "nv" {
		t.Errorf("the user's settings are lost: %s", content)
	}
	if config.DefaultRuntime != shimRuntime || config.Runtimes[shimRuntime].Path != "/cache/runtime-shim" {
		t.Errorf("the shim is not the default runtime: %s", content)
	}
}

func TestDaemonConfigWithoutShimChangesNothing(t *testing.T) {
	content, err := daemonConfig(nil, "")
	if err != nil || string(content) != "{}" {
		t.Errorf("got %s (%v)", content, err)
	}
	if _, err := daemonConfig([]byte("{"), ""); err == nil {
		t.Error("a broken file of the user went through")
	}
}
