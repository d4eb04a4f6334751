package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// fakeDocker writes a script that plays the docker CLI: it notes its arguments, one line a call, and then runs body.
func fakeDocker(t *testing.T, body string) (*Client, func() []string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$*\" >>" + dir + "/calls\n" + body + "\n"
	path := filepath.Join(dir, "docker")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Client{Binary: path}, func() []string {
		data, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

// says is a script body that prints out to stdout.
func says(out string) string { return "cat <<'EOF'\n" + out + "\nEOF" }

// fails is a script body that complains and exits.
func fails(code int, stderr string) string {
	return fmt.Sprintf("cat >&2 <<'EOF'\n%s\nEOF\nexit %d", stderr, code)
}

func TestErrorsAreClassified(t *testing.T) {
	cases := []struct {
		name     string
		stderr   string
		code     fault.Code
		notFound bool
	}{
		{"no engine", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon " +
			"running?", fault.DockerUnreachable, false},
		{"remote engine", "error during connect: Get \"https://x:2376/info\": dial tcp: lookup x: no such host",
			fault.DockerUnreachable, false},
		{"bad address", "Failed to initialize: unable to resolve docker endpoint: invalid bind address format: x",
			fault.DockerUnreachable, false},
		{"no TLS", "Client sent an HTTP request to an HTTPS server.", fault.DockerUnreachable, false},
		{"permission", "permission denied while trying to connect to the Docker daemon socket at " +
			"unix:///var/run/docker.sock", fault.DockerUnreachable, false},
		{"no container", "Error response from daemon: No such container: x", fault.Unknown, true},
		{"no container to inspect", "Error: No such container: x", fault.Unknown, true},
		{"no network", "Error response from daemon: network x not found", fault.Unknown, true},
		{"else", "Error response from daemon: conflict", fault.DockerFailed, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, _ := fakeDocker(t, fails(1, tc.stderr))
			_, err := c.Inspect(context.Background(), "x")
			if fault.CodeOf(err) != tc.code || errors.Is(err, ErrNotFound) != tc.notFound {
				t.Errorf("error %v has code %q, not found %v", err, fault.CodeOf(err), errors.Is(err, ErrNotFound))
			}
			if tc.code == fault.DockerUnreachable && fault.HintOf(err) == "" {
				t.Error("no hint")
			}
			if !strings.Contains(err.Error(), tc.stderr) {
				t.Errorf("error %q does not carry docker's words", err)
			}
		})
	}
}

func TestNoDockerCLI(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := (&Client{}).Info(context.Background())
	if fault.CodeOf(err) != fault.DockerUnreachable || !strings.Contains(fault.HintOf(err), "Install") {
		t.Errorf("error %v, code %q, hint %q", err, fault.CodeOf(err), fault.HintOf(err))
	}
}

func TestContextEndsACall(t *testing.T) {
	c, _ := fakeDocker(t, "exec sleep 60")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := c.Inspect(ctx, "x")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestInfo(t *testing.T) {
	t.Setenv("DOCKER_HOST", "")
	c,
		_ := fakeDocker(
		t,
		says(
			`{"Name":"vm","ServerVersion":"20.10.24","OSType":"linux","Architecture":"x86_64","CgroupVersion":"1","NCPU":2,`+
				`"MemTotal":8000000000,"DockerRootDir":"/var/lib/docker","DefaultRuntime":"runc","SecurityOptions":["name=seccomp","name=rootless"]}`))
	got, err := c.Info(context.Background())
	want := Info{ServerVersion: "20.10.24", OSType: "linux", Architecture: "amd64", CgroupVersion: "1", CPUs: 2,
		MemoryBytes: 8000000000, RootDir: "/var/lib/docker", Rootless: true, Name: "vm", DefaultRuntime: "runc"}
	if err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	c, _ = fakeDocker(t, says(`{"ServerVersion":"","ServerErrors":["Cannot connect to the Docker daemon"]}`))
	if _, err := c.Info(context.Background()); fault.CodeOf(err) != fault.DockerUnreachable {
		t.Errorf("no server gave %v", err)
	}
}

// What other programs print under the name docker, as podman 4.1.1 and nerdctl 1.5.5 do.
func TestOtherProgramsAreNotDocker(t *testing.T) {
	for program, prints := range map[string]string{
		"podman": `{"host":{"arch":"amd64","buildahVersion":"1.26.1","cgroupVersion":"v2","cpus":16},"store":{"graphDriverName":"overlay"},"version":{"APIVersion":"4.1.1"}}`,
		"nerdctl": `{"ID":"x","Plugins":{"Log":["json-file"],"Storage":["native","overlayfs"]},"CgroupVersion":"2","OSType":"linux","Architecture":"x86_64","Name":"x","ServerVersion":"v1.5.5",` +
			`"SecurityOptions":["name=seccomp,profile=default","name=rootless"]}`,
	} {
		c, _ := fakeDocker(t, says(prints))
		_, err := c.Info(context.Background())
		if fault.CodeOf(err) != fault.DockerUnreachable || !strings.Contains(err.Error(), program) ||
			!strings.Contains(fault.HintOf(err), "PATH") {
			t.Errorf("%s: %v, hint %q", program, err, fault.HintOf(err))
		}
	}
	c,
		_ := fakeDocker(
		t,
		says(
			`{"ServerVersion":"28.0.4","OSType":"linux","Plugins":{"Volume":["local"],"Network":["bridge"],"Log":["json-file"]}}`))
	if _, err := c.Info(context.Background()); err != nil {
		t.Errorf("Docker itself: %v", err)
	}
}

func TestEngineThatNeverAnswers(t *testing.T) {
	c, _ := fakeDocker(t, "exec sleep 60")
	_, err := c.info(context.Background(), 50*time.Millisecond)
	if fault.CodeOf(err) != fault.DockerUnreachable || !strings.Contains(err.Error(), "does not answer within 50ms") ||
		fault.HintOf(err) == "" {
		t.Errorf("got %v, code %q", err, fault.CodeOf(err))
	}
}

func TestRunArguments(t *testing.T) {
	c, calls := fakeDocker(t, `[ "$TOKEN" = s3cret ] || exit 3; echo id`)
	id, err := c.Run(context.Background(), RunOptions{
		Name: "n", Image: "i:1", Args: []string{"a", "b"}, Labels: map[string]string{"z": "1", "a": "2"},
		Network: "kind", Restart: "unless-stopped", Hardened: true, Env: map[string]string{"TOKEN": "s3cret"},
		Mounts: []Mount{{Type: "bind", Source: "/dev/null", Target: "/x", ReadOnly: true},
			{Type: "tmpfs", Target: "/run"}},
	})
	if err != nil || id != "id" {
		t.Fatalf("got %q, %v", id, err)
	}
	want := "run --detach --pull never --name n --label a=2 --label z=1 --network kind --restart unless-stopped " +
		"--read-only --cap-drop ALL --security-opt no-new-privileges --mount " +
		"type=bind,source=/dev/null,target=/x,readonly " +
		"--mount type=tmpfs,target=/run --env TOKEN i:1 a b"
	if got := calls()[0]; got != want {
		t.Errorf("ran\n%s\nwant\n%s", got, want)
	}
}

func TestInspect(t *testing.T) {
	c, _ := fakeDocker(t, says(`[{"Id":"abc","Name":"/n","Image":"sha256:1","State":{"Running":true,"Status":"running"},
"Config":{"Image":"i:1","Labels":{"k":"v"}},
"Mounts":[{"Type":"volume","Name":"vol","Source":"/var/lib/docker/volumes/vol","Destination":"/data","RW":true},
{"Type":"bind","Source":"/dev/null","Destination":"/etc/x","RW":false}],
"NetworkSettings":{"Networks":{"kind":{"IPAddress":"172.18.0.2"}},"Ports":{"6443/tcp":[{"HostIp":"127.0.0.1","HostPort":"40001"}],"80/tcp":null}}}]`))
	got, err := c.Inspect(context.Background(), "n")
	want := Container{
		ID: "abc", Name: "n", Image: "i:1", ImageID: "sha256:1", Running: true, Status: "running",
		Labels: map[string]string{"k": "v"},
		Mounts: []Mount{
			{Type: "volume", Source: "vol", Target: "/data"}, {Type: "bind", Source: "/dev/null", Target: "/etc/x",
				ReadOnly: true},
		},
		Networks: map[string]Endpoint{"kind": {IPv4: "172.18.0.2"}},
		Ports:    map[string][]string{"6443/tcp": {"127.0.0.1:40001"}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	if !got.HasMount("/etc/x") || got.HasMount("/etc/y") {
		t.Error("HasMount does not tell mounts apart")
	}
	if port, err := c.Port(context.Background(), "n", "6443/tcp"); port != "127.0.0.1:40001" || err != nil {
		t.Errorf("port %q, %v", port, err)
	}
	if _, err := c.Port(context.Background(), "n", "80/tcp"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a port that is not published gave %v", err)
	}
}

// What answers neither yes nor no has not said that there is no file.
func TestHasFile(t *testing.T) {
	for name, tc := range map[string]struct {
		body        string
		there, fail bool
	}{
		"there":                  {"echo there", true, false},
		"not there":              {"echo absent", false, false},
		"the container is gone":  {fails(1, "Error response from daemon: No such container: n"), false, true},
		"it was truncated":       {"echo absent; exit 137", false, true},
		"it says something else": {"echo hello", false, true},
		"it says nothing":        {"true", false, true},
	} {
		c, calls := fakeDocker(t, tc.body)
		if there, err := c.HasFile(t.Context(), "n", "/etc/x"); there != tc.there || (err != nil) != tc.fail {
			t.Errorf("%s: %v, %v", name, there, err)
		}
		if got := calls()[0]; !strings.HasPrefix(got, "exec n sh -c ") || !strings.HasSuffix(got, " /etc/x") {
			t.Errorf("%s: ran %q", name, got)
		}
	}
}

func TestContainersOfANetwork(t *testing.T) {
	c, calls := fakeDocker(t, `printf 'one\ntwo\n'`)
	names, err := c.Containers(t.Context(), Filter{Network: "kind"})
	if err != nil || !reflect.DeepEqual(names, []string{"one", "two"}) {
		t.Errorf("%v, %v", names, err)
	}
	// --all: those that are stopped too
	if got, want := calls()[0], "container ls --all --format {{.Names}} --filter network=kind"; got != want {
		t.Errorf("ran %q, want %q", got, want)
	}
}

// A provider's controller may have asked the engine to remove a container just before. It is waited for by its ID:
// another run may make one of that name meanwhile.
func TestRemoveWaitsForARemovalUnderWay(t *testing.T) {
	const underWay, gone = "Error response from daemon: removal of container n is already in progress",
		"Error response from daemon: No such container: n"
	const inspected = `[{"Id":"1d","Name":"/n","State":{"Status":"removing"}}]`
	answer := func(inspect, again string) string {
		return "case \"$*\" in\n*inspect*) " + inspect + ";;\n*\" 1d\") " + again + ";;\n*) " + fails(1, underWay) +
			";;\nesac"
	}
	for name, tc := range map[string]struct {
		body  string
		calls int // none: as many as there is time for
		want  string
	}{
		"it goes":              {answer(says(inspected)+"\n", fails(1, gone)+"\n"), 3, ""},
		"it has gone":          {answer(fails(1, gone)+"\n", fails(1, gone)+"\n"), 2, ""},
		"that removal failed":  {answer(says(inspected)+"\n", "exit 0"), 3, ""},
		"so did this one":      {answer(says(inspected)+"\n", fails(1, "driver failed")+"\n"), 3, "driver failed"},
		"the engine refuses":   {fails(1, "cannot remove container n: driver failed"), 1, "driver failed"},
		"it never comes to it": {answer(says(inspected)+"\n", fails(1, underWay)+"\n"), 0, "deadline exceeded"},
	} {
		c, calls := fakeDocker(t, tc.body)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := c.Remove(ctx, "n")
		cancel()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if n := len(calls()); tc.calls > 0 && n != tc.calls {
			t.Errorf("%s: %d calls, want %d: %q", name, n, tc.calls, calls())
		}
	}
}

func TestExecJoinsPipes(t *testing.T) {
	c, calls := fakeDocker(t, "cat")
	var out bytes.Buffer
	err := c.Exec(context.Background(), "n", []string{"tar", "-x"}, ExecOptions{Stdin: strings.NewReader("data"),
		Stdout: &out})
	if err != nil || out.String() != "data" {
		t.Errorf("got %q, %v", out.String(), err)
	}
	if got := calls()[0]; got != "exec --interactive n tar -x" {
		t.Errorf("ran %q", got)
	}
}

func TestListFilters(t *testing.T) {
	c, calls := fakeDocker(t, says("a\nb"))
	got, err := c.Containers(context.Background(), Filter{Labels: []string{"k=v", "l"}, Name: "^/x"})
	if err != nil || !reflect.DeepEqual(got, []string{"a", "b"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if want := "container ls --all --format {{.Names}} --filter label=k=v --filter label=l --filter name=^/x"; calls()[0] != want {
		t.Errorf("ran %q, want %q", calls()[0], want)
	}
}

func TestRemoveToleratesWhatIsGone(t *testing.T) {
	gone, _ := fakeDocker(t, fails(1, "Error response from daemon: No such container: x"))
	if err := gone.Remove(context.Background(), "x"); err != nil {
		t.Errorf("removing what is gone: %v", err)
	}
	busy, _ := fakeDocker(t, fails(1, "Error response from daemon: volume is in use"))
	if err := busy.RemoveVolume(context.Background(), "x"); fault.CodeOf(err) != fault.DockerFailed {
		t.Errorf("removing what is in use: %v", err)
	}
}

func TestImageExists(t *testing.T) {
	cases := []struct {
		body string
		want bool
		code fault.Code
	}{
		{says(`[{"Id":"sha256:1","RepoTags":["i:1"]}]`), true, ""},
		{fails(1, "Error: No such image: i:1"), false, ""},
		{fails(1, "Cannot connect to the Docker daemon"), false, fault.DockerUnreachable},
	}
	for _, tc := range cases {
		c, _ := fakeDocker(t, tc.body)
		got, err := c.ImageExists(context.Background(), "i:1")
		if got != tc.want || fault.CodeOf(err) != tc.code {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestProbePrivileged(t *testing.T) {
	cases := []struct {
		name string
		body string
		code fault.Code
	}{
		{"allowed", "exit 0", ""},
		{"caps", fails(1, "exec failed: unable to start container process: unable to apply caps: operation not "+
			"permitted"), fault.DockerPrivileged},
		{"refused", fails(125, "docker: Error response from daemon: privileged mode is incompatible with user "+
			"namespaces."), fault.DockerPrivileged},
		{"no engine", fails(125, "docker: Cannot connect to the Docker daemon"), fault.DockerUnreachable},
		{"command failed", fails(1, "no such command"), fault.DockerFailed},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, _ := fakeDocker(t, tc.body)
			if err := c.ProbePrivileged(context.Background(), "i", "version"); fault.CodeOf(err) != tc.code {
				t.Errorf("error %v has code %q, want %q", err, fault.CodeOf(err), tc.code)
			}
		})
	}
}

func TestCreateKindNetwork(t *testing.T) {
	const absent = `case "$*" in "network ls"*) exit 0;; "network inspect bridge"*) echo 1450; exit 0;; esac
`
	const v4 = "network create --driver=bridge -o com.docker.network.bridge.enable_ip_masquerade=true -o " +
		"com.docker.network.driver.mtu=1450 --label l=1"
	cases := []struct {
		name, body, last string
		creates          int
	}{
		{"there already", `case "$*" in "network ls"*) echo 1; exit 0;; esac` + "\n" +
			says(`[{"Id":"1","Name":"kind"}]`), "", 0},
		{"new", absent, v4 + " --ipv6 --subnet " + ulaSubnet("kind", 0) + " kind", 1},
		{"no IPv6 on the host", absent +
			`case "$*" in *--ipv6*) echo "Cannot read IPv6 setup for bridge" >&2; exit 1;; esac`, v4 + " kind", 2},
		{"subnet taken", absent + `case "$*" in *` + ulaSubnet("kind", 0) +
			`*) echo "Pool overlaps with other one" >&2; exit 1;; esac`,
			v4 + " --ipv6 --subnet " + ulaSubnet("kind", 1) + " kind", 2},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, calls := fakeDocker(t, tc.body)
			if err := c.CreateKindNetwork(context.Background(), "kind", map[string]string{"l": "1"}); err != nil {
				t.Fatal(err)
			}
			all := calls()
			creates, last := 0, ""
			for _, call := range all {
				if strings.HasPrefix(call, "network create") {
					creates, last = creates+1, call
				}
			}
			if last != tc.last || creates != tc.creates {
				t.Errorf("ran %q, want the last to be %q after %d creates", all, tc.last, tc.creates)
			}
		})
	}
	broken, _ := fakeDocker(t, absent+fails(1, "Error response from daemon: no space"))
	if err := broken.CreateKindNetwork(context.Background(), "kind", nil); fault.CodeOf(err) != fault.DockerFailed {
		t.Errorf("got %v", err)
	}
}

// A command whose child keeps its output open, as ssh does below a hanging exec, is not waited for when its bound is
// over.
func TestABoundHoldsWhateverACommandHasStarted(t *testing.T) {
	c, _ := fakeDocker(t, "sleep 60 &\nsleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := c.HasFile(ctx, "node", "/marker"); !errors.Is(err, context.DeadlineExceeded) ||
		time.Since(began) > 30*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}
