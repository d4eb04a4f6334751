package environment_test

import (
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/environment"
)

// The address of a remote engine means nothing to its own containers: they use its socket.
func TestProviderUsesTheEnginesSocket(t *testing.T) {
	for host, socket := range map[string]string{
		"":                                  "/var/run/docker.sock",
		"tcp://docker:2376":                 "/var/run/docker.sock",
		"ssh://build.example.org":           "/var/run/docker.sock",
		"unix:///run/user/1000/docker.sock": "/run/user/1000/docker.sock",
	} {
		env := load(t, environment.Options{Variables: variables(map[string]string{"DOCKER_HOST": host})})
		if got := env.Spec().Cluster.DockerSocket(); got != socket {
			t.Errorf("%q: socket %s, want %s", host, got, socket)
		}
		controller := string(toYAML(t, applied(t, env, "capd")))
		if host != "" && strings.Contains(controller, host) {
			t.Errorf("%q: the provider has the address:\n%s", host, controller)
		}
		if machines := string(toYAML(t, applied(t, env, "cluster"))); !strings.Contains(machines, "hostPath: "+socket+
			"\n") {
			t.Errorf("%q: the machines have not the socket:\n%s", host, machines)
		}
	}
	given := load(
		t, environment.Options{Sets: []string{"components.capd.substitute.CAPD_DOCKER_HOST=tcp://192.0.2.7:2375"}})
	if kustomizations, err := given.Render(environment.Bootstrap, nil); err != nil ||
		!strings.Contains(string(toYAML(t, kustomizations)), "CAPD_DOCKER_HOST: tcp://192.0.2.7:2375") {
		t.Errorf("an address of one's own does not reach the provider (%v)", err)
	}
}
