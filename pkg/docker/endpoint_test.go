package docker

import "testing"

func TestWhereTheEngineIs(t *testing.T) {
	cases := map[string]struct {
		endpoint string
		local    bool
		host     string
	}{
		"the default":             {"", true, ""},
		"a socket":                {"unix:///run/user/1000/docker.sock", true, ""},
		"a named pipe":            {"npipe:////./pipe/docker_engine", true, ""},
		"a service of a CI job":   {"tcp://docker:2376", false, "docker"},
		"an address":              {"tcp://192.0.2.7:2375", false, "192.0.2.7"},
		"an IPv6 address":         {"tcp://[2001:db8::7]:2375", false, "2001:db8::7"},
		"no scheme":               {"docker:2375", false, "docker"},
		"ssh":                     {"ssh://user@build.example.org:2222", false, "build.example.org"},
		"a container in this pod": {"tcp://localhost:2375", false, ""},
		"loopback":                {"tcp://127.0.0.1:2375", false, ""},
		"IPv6 loopback":           {"tcp://[::1]:2375", false, ""},
		"no address":              {"tcp://%zz", false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			info := Info{Endpoint: tc.endpoint}
			if info.Local() != tc.local || info.RemoteHost() != tc.host {
				t.Errorf("local %v, host %q, want %v, %q", info.Local(), info.RemoteHost(), tc.local, tc.host)
			}
		})
	}
}

func TestEndpointOfTheCLI(t *testing.T) {
	const script = `case "$1" in
info) echo '{"ServerVersion":"28","ClientInfo":{"Context":"'"$CONTEXT"'"}}' ;;
context) [ "$5" = build ] && echo ssh://user@build ;;
esac`
	cases := map[string]struct {
		env  []string
		want string
	}{
		"nothing is set":              {[]string{"DOCKER_HOST=", "CONTEXT=default"}, ""},
		"a CLI that knows no context": {[]string{"DOCKER_HOST=", "CONTEXT="}, ""},
		"DOCKER_HOST": {[]string{"DOCKER_HOST=tcp://docker:2375", "CONTEXT=default"},
			"tcp://docker:2375"},
		"a context": {[]string{"DOCKER_HOST=", "CONTEXT=build"}, "ssh://user@build"},
		"the last one counts": {[]string{"DOCKER_HOST=tcp://a:1", "CONTEXT=default", "DOCKER_HOST=tcp://b:2"},
			"tcp://b:2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := fakeDocker(t, script)
			c.Env = tc.env
			info, err := c.Info(t.Context())
			if err != nil || info.Endpoint != tc.want {
				t.Errorf("endpoint %q, want %q (%v)", info.Endpoint, tc.want, err)
			}
		})
	}
	t.Run("the process environment", func(t *testing.T) {
		t.Setenv("DOCKER_HOST", "tcp://c:3")
		c, _ := fakeDocker(t, `echo '{"ServerVersion":"28"}'`)
		if info, err := c.Info(t.Context()); err != nil || info.Endpoint != "tcp://c:3" {
			t.Errorf("endpoint %q (%v)", info.Endpoint, err)
		}
	})
	t.Run("a context that cannot be read", func(t *testing.T) {
		c,
			_ := fakeDocker(
			t, `[ "$1" = info ] || exit 1; echo '{"ServerVersion":"28","ClientInfo":{"Context":"gone"}}'`)
		c.Env = []string{"DOCKER_HOST="}
		if _, err := c.Info(t.Context()); err == nil {
			t.Error("it passes for the default socket")
		}
	})
}

func TestWhereAPublishedPortIsReached(t *testing.T) {
	cases := map[string]struct{ published, engine, want string }{
		"everywhere":                       {"0.0.0.0:32768", "", "127.0.0.1 32768"},
		"everywhere, IPv6":                 {"[::]:32768", "", "127.0.0.1 32768"},
		"loopback":                         {"127.0.0.1:32768", "", "127.0.0.1 32768"},
		"one address":                      {"192.0.2.7:6443", "", "192.0.2.7 6443"},
		"everywhere on another machine":    {"0.0.0.0:32768", "docker", "docker 32768"},
		"one address on another machine":   {"10.0.0.7:32768", "docker", "docker 32768"},
		"nothing that an engine would say": {"no address", "docker", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			host, port, err := ReachedAt(tc.published, tc.engine)
			if tc.want == "" && err == nil || tc.want != "" && (err != nil || host+" "+port != tc.want) {
				t.Errorf("%s %s (%v), want %q", host, port, err, tc.want)
			}
		})
	}
}
