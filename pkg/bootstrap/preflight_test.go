package bootstrap

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// goodHost is a machine that has enough of everything.
func goodHost() host {
	return host{
		name:         "here",
		freeBytes:    func(string) (int64, bool) { return 100 << 30, true },
		inotifyLimit: func(string) (int, bool) { return 1 << 20, true },
		listen:       func(int32) error { return nil },
	}
}

func goodEngine() docker.Info {
	return docker.Info{Name: "here", MemoryBytes: 16 << 30, RootDir: "/var/lib/docker"}
}

func TestProblemsOfTheMachine(t *testing.T) {
	disk := func(free int64, known bool) func(*host, *docker.Info) {
		return func(h *host, _ *docker.Info) {
			h.freeBytes = func(folder string) (int64, bool) { return free, known && folder == "/var/lib/docker" }
		}
	}
	inotify := func(name string, value int, known bool) func(*host, *docker.Info) {
		return func(h *host, _ *docker.Info) {
			h.inotifyLimit = func(asked string) (int, bool) {
				if asked == name {
					return value, known
				}
				return 1 << 20, true
			}
		}
	}
	memory := func(bytes int64) func(*host, *docker.Info) {
		return func(_ *host, e *docker.Info) { e.MemoryBytes = bytes }
	}
	taken := func(h *host, _ *docker.Info) {
		h.listen = func(int32) error { return errors.New("address already in use") }
	}
	elsewhere := func(_ *host, e *docker.Info) { e.Name = "there" }
	// of the same name, as two containers of one pod
	remote := func(_ *host, e *docker.Info) { e.Endpoint = "tcp://docker:2376" }
	cases := map[string]struct {
		change []func(*host, *docker.Info)
		code   fault.Code
		says   []string
		hints  []string
	}{
		"nothing": {nil, "", nil, nil},
		"just enough": {with(memory(6<<30), disk(10<<30, true),
			inotify("max_user_watches", 65536, true)), "", nil, nil},
		"memory": {with(memory(4 << 30)), fault.HostResources,
			[]string{"too little memory of the Docker host: 4.0 GiB, at least 6.0 GiB"}, []string{"DOCKER_HOST"}},
		"disk": {with(disk(3<<29, true)), fault.HostResources,
			[]string{"too little disk space in /var/lib/docker: 1.5 GiB, at least 10.0 GiB"}, []string{"DOCKER_HOST"}},
		"disk that cannot be seen": {with(disk(0, false)), "", nil, nil},
		"watches": {with(inotify("max_user_watches", 8192, true)), fault.HostResources,
			[]string{"fs.inotify.max_user_watches is 8192, at least 65536"},
			[]string{"sysctl -w fs.inotify.max_user_watches=524288"}},
		"instances": {with(inotify("max_user_instances", 128, true)), fault.HostResources,
			[]string{"fs.inotify.max_user_instances is 128, at least 256"},
			[]string{"sysctl -w fs.inotify.max_user_instances=2048"}},
		"no inotify": {with(inotify("max_user_watches", 0, false)), "", nil, nil},
		"port": {with(taken), fault.PortTaken, []string{"port 6443: address already in use"},
			[]string{"--api-server-port"}},
		"several, each with its hint": {with(memory(1), disk(1, true), inotify("max_user_instances", 1, true), taken),
			fault.HostResources, []string{"memory", "disk space", "max_user_instances", "port 6443"},
			[]string{"DOCKER_HOST", "sysctl", "--api-server-port"}},
		"an engine elsewhere": {with(elsewhere, disk(1, true), inotify("max_user_watches", 1, true)), "", nil,
			nil},
		"one that is reached by TCP": {with(remote, disk(1, true), inotify("max_user_watches", 1, true), taken), "",
			nil, nil},
		"memory of one by TCP":    {with(remote, memory(1)), fault.HostResources, []string{"memory"}, nil},
		"memory of one elsewhere": {with(elsewhere, memory(1)), fault.HostResources, []string{"memory"}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h, engine := goodHost(), goodEngine()
			for _, change := range tc.change {
				change(&h, &engine)
			}
			err := h.problems(engine, 6443)
			if fault.CodeOf(err) != tc.code {
				t.Fatalf("code %q, want %q: %v", fault.CodeOf(err), tc.code, err)
			}
			for _, part := range tc.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			for _, part := range tc.hints {
				if !strings.Contains(fault.HintOf(err), part) {
					t.Errorf("hint %q does not say %q", fault.HintOf(err), part)
				}
			}
		})
	}
}

// Engines that are no place for nodes are refused before anything is made.
func TestEnginesThatDoNotSuit(t *testing.T) {
	for name, tc := range map[string]struct {
		engine   docker.Info
		machines bool
		says     string // in the refusal
		warns    string
	}{
		"an ordinary one":        {docker.Info{OSType: "linux"}, true, "", ""},
		"one that does not say":  {docker.Info{}, true, "", ""},
		"Windows":                {docker.Info{OSType: "windows"}, false, "runs windows containers", ""},
		"rootless, for machines": {docker.Info{OSType: "linux", Rootless: true}, true, "is rootless", ""},
		"rootless, for the bootstrap cluster": {docker.Info{OSType: "linux", Rootless: true}, false, "",
			"is rootless"},
		"rootless Windows, whatever that were": {docker.Info{OSType: "windows", Rootless: true}, true, "windows", ""},
	} {
		notes := &pipeline.Notes{}
		err := suits(tc.engine, tc.machines, notes)
		if (err != nil) != (tc.says != "") || err != nil && (!strings.Contains(err.Error(), tc.says) ||
			fault.HintOf(err) == "") {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
		if warned := strings.Join(notes.Warnings, "\n"); (warned != "") != (tc.warns != "") ||
			!strings.Contains(warned, tc.warns) {
			t.Errorf("%s: warns %q, want %q", name, warned, tc.warns)
		}
	}
}

func with(changes ...func(*host, *docker.Info)) []func(*host, *docker.Info) { return changes }

func TestPortOfThisMachine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := int32(l.Addr().(*net.TCPAddr).Port)
	if err := thisMachine().listen(port); err == nil {
		t.Errorf("port %d passes for free while a process listens there", port)
	}
	if err := goodHost().problems(goodEngine(), 0); err != nil {
		t.Errorf("port 0: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := thisMachine().listen(port); err != nil {
		t.Errorf("port %d is free: %v", port, err)
	}
}

func TestThisMachineCanBeRead(t *testing.T) {
	h := thisMachine()
	if free, known := h.freeBytes(t.TempDir()); !known || free <= 0 {
		t.Errorf("free bytes of a folder: %d, %v", free, known)
	}
	if _, known := h.freeBytes("/no/such/folder"); known {
		t.Error("a folder that is not there has free bytes")
	}
	if limit, known := h.inotifyLimit("max_user_watches"); known && limit <= 0 {
		t.Errorf("inotify watches: %d", limit)
	}
	if _, known := h.inotifyLimit("no_such_limit"); known {
		t.Error("a limit that is not there is known")
	}
}
