package kind

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A node has the proxies that it is given, and not those of the shell; kind adds what it knows to the list.
func TestNodeHasTheProxiesThatItIsGiven(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "") // t.Setenv puts back what is there
		os.Unsetenv(name)
	}
	t.Setenv("http_proxy", "http://shell:1")
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	given := Proxies{HTTP: "http://proxy:3128", HTTPS: "http://proxy:3129",
		No: "localhost,.svc,.cluster.local.,10.96.0.0/16"}
	for name, want := range map[string]struct {
		proxies Proxies
		in      map[string]string
	}{
		"given": {given, map[string]string{"HTTP_PROXY": given.HTTP, "https_proxy": given.HTTPS, "NO_PROXY": given.No,
			"no_proxy": given.No}},
		"absent": {Proxies{No: "x"}, map[string]string{"HTTP_PROXY": "", "http_proxy": "", "https_proxy": "",
			"no_proxy": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			calls := fakeDocker(t, "exit 1")
			if err := New(func(string) {}).Create(t.Context(), Config{Name: "test", Proxies: want.proxies}, time.Second,
				made(true)); err == nil {
				t.Fatal("the engine took it")
			}
			text, err := os.ReadFile(calls)
			if err != nil {
				t.Fatal(err)
			}
			for variable, value := range want.in {
				got := regexp.MustCompile(`(?m)^run .* -e ` + variable + `=(\S*)`).FindStringSubmatch(string(text))
				if value == "" && got == nil {
					continue
				}
				if value == "" {
					t.Errorf("%s is %q, want none", variable, got)
					continue
				}
				if got == nil || !strings.Contains(","+got[1]+",", ","+value+",") {
					t.Errorf("%s is %q, want %s in it", variable, got, value)
				}
			}
			for _, variable := range []string{"HTTP_PROXY", "https_proxy", "NO_PROXY", "no_proxy"} {
				if value, set := os.LookupEnv(variable); set {
					t.Errorf("this process is left with %s=%s", variable, value)
				}
			}
			if value := os.Getenv("http_proxy"); value != "http://shell:1" {
				t.Errorf("this process is left with http_proxy=%s", value)
			}
		})
	}
}
