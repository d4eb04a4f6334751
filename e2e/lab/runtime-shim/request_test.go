package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRequestFile(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"create as dockerd calls it": {
			[]string{"--root", "/run/x", "--log", "/l", "--log-format", "json", "create", "--bundle", "/b",
				"--pid-file", "/p", "id"},
			"/b/config.json",
		},
		"run in the working directory": {[]string{"run", "id"}, "config.json"},
		"joined value":                 {[]string{"create", "--bundle=/b", "id"}, "/b/config.json"},
		"short flag":                   {[]string{"create", "-b", "/b", "id"}, "/b/config.json"},
		"exec": {[]string{"--root", "/r", "exec", "--process", "/tmp/p.json", "--detach", "id"},
			"/tmp/p.json"},
		"exec without a file": {[]string{"exec", "id", "sh"}, ""},
		"state":               {[]string{"--root", "/r", "state", "id"}, ""},
		"kill":                {[]string{"kill", "--all", "id", "9"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := requestFile(test.args); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDrop(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"bundle": {
			`{"process":{"capabilities":{"bounding":["CAP_CHOWN","CAP_SYS_RESOURCE"],"ambient":["CAP_SYS_RESOURCE"]}}}`,
			`{"process":{"capabilities":{"ambient":[],"bounding":["CAP_CHOWN"]}}}`,
		},
		"process file": {
			`{"capabilities":{"effective":["CAP_SYS_RESOURCE","CAP_KILL"]}}`,
			`{"capabilities":{"effective":["CAP_KILL"]}}`,
		},
		"numbers keep their digits": {
			`{"limit":18446744073709551615,"process":{"capabilities":{"bounding":["CAP_SYS_RESOURCE"]}}}`,
			`{"limit":18446744073709551615,"process":{"capabilities":{"bounding":[]}}}`,
		},
		"nothing to drop stays byte for byte": {`{ "process": {"capabilities":{"bounding":["CAP_KILL"]}} }`,
			`{ "process": {"capabilities":{"bounding":["CAP_KILL"]}} }`},
		"no process": {`{"hooks":{}}`, `{"hooks":{}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := drop([]byte(test.in))
			if err != nil || string(got) != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
	if _, err := drop([]byte("not json")); err == nil {
		t.Error("broken input went through")
	}
}

func TestDropFromFileKeepsTheMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(`{"capabilities":{"bounding":["CAP_SYS_RESOURCE"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dropFromFile(file); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(content), dropped) {
		t.Errorf("the capability is still there: %s (%v)", content, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode changed: %v (%v)", info.Mode(), err)
	}
}
