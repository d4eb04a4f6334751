package clusters

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/docker"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kind"
	"github.com/cluster-init/cluster-init/pkg/owned"
	"github.com/cluster-init/cluster-init/pkg/provider"
)

// machine is an engine of files with the containers of demo, the machines of a provider, and a clock that only pauses
// move.
type machine struct {
	t      *testing.T
	folder string
	world  *World
	// machines are the machines that the provider reports.
	machines []provider.Machine
	now      time.Time
	paused   int
	waits    []string
}

const (
	registryName = "demo-registry"
	nodeName     = "demo-bootstrap-control-plane"
)

func newMachine(t *testing.T) *machine {
	t.Helper()
	env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Sets: []string{"cluster.name=demo"}})
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, folder: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	m.write("docker", `#!/bin/sh
cd `+m.folder+`
case "$1 $2" in
"ps "*) if [ -e `+nodeName+` ] || [ -e listed ]; then echo demo-bootstrap; fi ;;
"container inspect") if [ -e "$3" ]; then cat "$3"; else echo "Error: No such container: $3" >&2; exit 1; fi ;;
"start "*) echo "$2" >>started; if [ -e refuses ]; then cat refuses >&2; exit 1; fi; if [ -e "$2.up" ]; then cp "$2.up" "$2"; fi ;;
"exec "*) cat marker ;;
"info "*) echo "{\"ServerVersion\":\"20.10\"}" ;;
esac
`)
	if err := os.Chmod(filepath.Join(m.folder, "docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", m.folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	m.world = New(Subject{Identity: IdentityOf(env), KubeconfigPath: filepath.Join(m.folder, "none"), StateFolder: t.TempDir(),
		Timeout: time.Hour},
		Parts{Docker: &docker.Client{Binary: filepath.Join(m.folder, "docker")}, Kind: kind.New(func(string) {}),
			Provider: m, Now: func() time.Time { return m.now }})
	m.world.pause = func(context.Context) { m.paused++; m.now = m.now.Add(20 * time.Second) }
	return m
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.folder, name), []byte(content), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// container makes the engine report a container in this status; marked reports whether its mounts mark it as managed.
func (m *machine) container(name, status string, marked bool) {
	m.t.Helper()
	mounts := ""
	if marked {
		mounts = `{"Type":"bind","Destination":"` + owned.Marker("demo") + `"}`
	}
	running := "false"
	if status == "running" || status == "paused" {
		running = "true"
	}
	m.write(name, `[{"Name":"/`+name+`","Created":"2025-12-01T00:00:00Z","State":{"Status":"`+status+`","Running":`+
		running+`},"Mounts":[`+mounts+`]}]`)
}

// started is what was started, in this order.
func (m *machine) started() []string {
	content, _ := os.ReadFile(filepath.Join(m.folder, "started"))
	return strings.Fields(string(content))
}

func (m *machine) Place() string                                        { return "Docker" }
func (m *machine) ReachesEngine() bool                                  { return true }
func (m *machine) Preflight(context.Context, provider.Reporter) error   { return nil }
func (m *machine) Kinds() []schema.GroupVersionResource                 { return nil }
func (m *machine) Machines(context.Context) ([]provider.Machine, error) { return m.machines, nil }

func (m *machine) Start(ctx context.Context, started provider.Machine) error {
	for i := range m.machines {
		if m.machines[i].Name == started.Name {
			m.machines[i].Stopped = false
		}
	}
	return m.world.Docker.Start(ctx, started.Name)
}

func (m *machine) Progress(string, ...any) {}
func (m *machine) Warn(string, ...any)     {}
func (m *machine) Object(event.Object)     {}
func (m *machine) Log(string)              {}

func (m *machine) Waiting(what string, _ []event.Object) { m.waits = append(m.waits, what) }

// The engine lists a node that it is about to make, or has just removed, before or after it can be inspected.
func TestANodeThatIsListedAndNotFoundIsLookedForAgain(t *testing.T) {
	cases := map[string]struct {
		then func(m *machine, cancel func()) // in the first pause
		want BootstrapState
		code fault.Code
	}{
		"it is being made": {func(m *machine, _ func()) { m.container(nodeName, "created", true) },
			BootstrapUnfinished, ""},
		"it was being removed": {func(m *machine, _ func()) { _ = os.Remove(filepath.Join(m.folder, "listed")) },
			BootstrapAbsent, ""},
		"it has another name": {func(*machine, func()) {}, BootstrapSilent, fault.Busy},
		"the run ends before": {func(_ *machine, cancel func()) { cancel() }, BootstrapSilent, ""},
		"somebody else's is made": {func(m *machine, _ func()) { m.container(nodeName, "running", false) },
			BootstrapForeign, fault.ClusterForeign},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.write("listed", "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m.world.pause = func(context.Context) {
				if m.paused++; m.paused == 1 {
					tc.then(m, cancel)
				}
			}
			if side := m.world.seeNode(ctx); side.State != tc.want || tc.code != "" &&
				fault.CodeOf(side.Err) != tc.code {
				t.Errorf("%v: %v, want %v with the code %q", side.State, side.Err, tc.want, tc.code)
			}
			if side := m.world.seeNode(ctx); tc.code == fault.Busy &&
				!strings.Contains(side.Remedy, "kind get nodes --name demo-bootstrap") {
				t.Errorf("the remedy is %q", side.Remedy)
			}
			if exists, err := m.world.BootstrapExists(ctx); tc.want == BootstrapSilent && err == nil ||
				exists != (tc.want == BootstrapUnfinished) {
				t.Errorf("it exists: %v, %v", exists, err)
			}
		})
	}
}

// If the engine does not answer, it is not known whether a bootstrap cluster exists. If the engine lists it and reports
// no more, it exists.
func TestWhetherThereIsANodeIsAsked(t *testing.T) {
	m := newMachine(t)
	m.container(nodeName, "paused", true)
	if side := m.world.seeNode(t.Context()); side.State != BootstrapSilent || side.NotChecked {
		t.Errorf("one that is listed: %+v", side)
	}
	m.write(nodeName, "no JSON")
	m.write("listed", "")
	if side := m.world.seeNode(t.Context()); side.State != BootstrapSilent || side.NotChecked {
		t.Errorf("one that is listed, and cannot be inspected: %+v", side)
	}
	if err := os.Remove(filepath.Join(m.folder, "docker")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", m.folder)
	if side := m.world.seeNode(t.Context()); side.State != BootstrapSilent || !side.NotChecked || side.Err == nil {
		t.Errorf("without an engine: %+v", side)
	}
}

func TestSeeNodeMapsWhatTheEngineSays(t *testing.T) {
	for name, tc := range map[string]struct {
		status, marker string
		foreign        bool
		want           BootstrapState
		remedy         string
	}{
		"there is none":               {want: BootstrapAbsent},
		"somebody else's":             {status: "exited", foreign: true, want: BootstrapForeign},
		"stopped, as after a reboot":  {status: "exited", want: BootstrapStopped},
		"the engine could not end it": {status: "dead", want: BootstrapStopped},
		"paused":                      {status: "paused", want: BootstrapSilent, remedy: "docker unpause " + nodeName},
		"it is being removed": {status: "removing", want: BootstrapSilent,
			remedy: "run the same command again"},
		"it never ran":                      {status: "created", want: BootstrapUnfinished},
		"it runs, and kind was interrupted": {status: "running", marker: "absent", want: BootstrapUnfinished},
		"it runs, and does not say more":    {status: "running", marker: "", want: BootstrapSilent},
		"it runs and is finished":           {status: "running", marker: "there", want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			if tc.status != "" {
				m.container(nodeName, tc.status, !tc.foreign)
			}
			m.write("marker", tc.marker)
			side := m.world.seeNode(t.Context())
			if side.State != tc.want || !strings.Contains(side.Remedy, tc.remedy) ||
				(side.Remedy == "") != (tc.remedy == "") {
				t.Errorf("%q (%v), remedy %q, want %q", side.State, side.Err, side.Remedy, tc.want)
			}
			if unknown := tc.want == BootstrapSilent || tc.want == BootstrapForeign; (side.Err != nil) != unknown {
				t.Errorf("error %v, want one: %t", side.Err, unknown)
			}
			if len(m.started()) > 0 {
				t.Errorf("a look has started %v", m.started())
			}
		})
	}
}

// A reboot stops all containers. They are started in the order in which they were made, each once.
func TestSettleStartsWhatIsStopped(t *testing.T) {
	machines := []provider.Machine{{Name: "demo-lb", Stopped: true}, {Name: "demo-cp"},
		{Name: "demo-worker", Stopped: true}}
	for name, tc := range map[string]struct {
		registry, node string
		stubborn       bool   // the node stops again at once
		refuses        string // the engine's error for a start
		machines       []provider.Machine
		started        []string
		says           string
	}{
		"all of it": {registry: "exited", node: "exited", machines: machines,
			started: []string{registryName, nodeName, "demo-lb", "demo-worker"}},
		"the machines only": {registry: "running", node: "running", machines: machines,
			started: []string{"demo-lb", "demo-worker"}},
		"there is no registry": {node: "exited", started: []string{nodeName}},
		"it stops again at once": {node: "exited", stubborn: true, started: []string{nodeName}, says: nodeName +
			" was started and stopped again at once"},
		"it cannot be started": {node: "exited", refuses: "Error response from daemon: no such device",
			started: []string{nodeName}, says: "no such device"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			m.machines = slices.Clone(tc.machines)
			m.write("marker", "absent") // so that no API server is asked
			for container, status := range map[string]string{registryName: tc.registry, nodeName: tc.node} {
				if status == "" {
					continue
				}
				m.container(container+".up", "running", true)
				m.container(container, status, true)
				if tc.stubborn {
					m.container(container+".up", "exited", true)
				}
			}
			if tc.refuses != "" {
				m.write("refuses", tc.refuses)
			}
			o, err := m.world.Decide(t.Context(), m,
				func(o Observation) Decision { return Decision{Start: o.Stopped()} })
			if !slices.Equal(m.started(), tc.started) {
				t.Errorf("started %v, want %v", m.started(), tc.started)
			}
			if tc.says == "" {
				if err != nil || o.Stopped() {
					t.Errorf("error %v, and what was seen last has something stopped: %t", err, o.Stopped())
				}
			} else if err == nil || !strings.Contains(err.Error(), tc.says) ||
				fault.CodeOf(err) != fault.ClusterUnreachable ||
				!strings.Contains(fault.HintOf(err), "docker logs "+nodeName) {
				t.Errorf("error %v, code %q, hint %q", err, fault.CodeOf(err), fault.HintOf(err))
			}
			if m.paused > 0 {
				t.Errorf("it pauses %d times where nothing is awaited", m.paused)
			}
		})
	}
}

// An answer is asked for again as long as the patience lasts: a sixtieth of the bound, and a tenth after something was
// started.
func TestSettleIsPatientWithWhatDoesNotAnswer(t *testing.T) {
	silent := errors.New("the bootstrap cluster does not answer")
	stopped := func(m *machine) {
		m.container(nodeName, "exited", true)
		m.container(nodeName+".up", "paused", true)
	}
	for name, tc := range map[string]struct {
		world         func(*machine)
		answers       int // at which observation; 0: never
		unrecoverable bool
		pauses        int
		refused       bool
	}{
		"it answers at once":                 {answers: 1},
		"it answers at the third look":       {answers: 3, pauses: 2},
		"it never answers":                   {pauses: 3, refused: true},
		"waiting is of no use":               {unrecoverable: true, refused: true},
		"it never answers after a start":     {world: stopped, pauses: 18, refused: true},
		"it answers late, but after a start": {world: stopped, answers: 12, pauses: 10},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			if tc.world != nil {
				tc.world(m)
			}
			looks := 0
			_, err := m.world.DecideLeased(t.Context(), m, func(o Observation) Decision {
				looks++
				if o.Stopped() {
					return Decision{Start: true}
				}
				if looks == tc.answers {
					return Decision{}
				}
				return Decision{Refusal: silent, Retryable: !tc.unrecoverable}
			})
			if errors.Is(err, silent) != tc.refused || (err != nil) != tc.refused {
				t.Errorf("error %v, want the refusal: %t", err, tc.refused)
			}
			if m.paused != tc.pauses || len(m.waits) != tc.pauses {
				t.Errorf("%d pauses and %d times said, want %d", m.paused, len(m.waits), tc.pauses)
			}
		})
	}
}

// LookUntil ends with the first observation that is enough, with one that cannot become better, or after Patience.
func TestLookUntil(t *testing.T) {
	for name, tc := range map[string]struct {
		enoughAt int
		again    bool
		looks    int
	}{
		"enough at once":       {enoughAt: 1, again: true, looks: 1},
		"enough at the second": {enoughAt: 2, again: true, looks: 2},
		"nothing will change":  {enoughAt: 9, looks: 1},
		"patience has an end":  {enoughAt: 9, again: true, looks: 4},
	} {
		m := newMachine(t)
		looks := 0
		look := func(context.Context) Observation { looks++; return Observation{} }
		if err := m.world.LookUntil(t.Context(), look,
			func(Observation) (done, again bool) { return looks >= tc.enoughAt, tc.again }); err != nil ||
			looks != tc.looks {
			t.Errorf("%s: %d looks, want %d (%v)", name, looks, tc.looks, err)
		}
	}
	m := newMachine(t)
	ctx, end := context.WithCancel(t.Context())
	m.world.pause = func(context.Context) { end() }
	if err := m.world.LookUntil(ctx, m.world.ObserveClusters, func(Observation) (done, again bool) {
		return false,
			true
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	ctx, end = context.WithCancel(t.Context())
	end()
	if _, err := m.world.Decide(ctx, m, func(
		Observation) Decision {
		t.Error("a look that was interrupted is judged")
		return Decision{}
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// With a long --timeout, Patience is longer than the bound of the observing phase. The bound does not discard what was
// observed.
func TestARefusalOutlivesTheBoundOfALook(t *testing.T) {
	refused := fault.New(fault.ClusterUnreachable, "it does not answer", "Start it.")
	m := newMachine(t)
	m.world.Timeout = 24 * time.Hour
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	looks := 0
	_, err := m.world.Decide(ctx, m, func(Observation) Decision {
		looks++
		return Decision{Refusal: refused, Retryable: true}
	})
	if !errors.Is(err, refused) || looks != 1 {
		t.Errorf("after %d looks: %v", looks, err)
	}
	looks = 0
	if err := m.world.LookUntil(ctx, m.world.Observe, func(Observation) (done, again bool) {
		looks++
		return false,
			true
	}); err != nil || looks != 1 {
		t.Errorf("after %d looks: %v", looks, err)
	}
	if got := unfinished(context.DeadlineExceeded, refused); !errors.Is(got, refused) {
		t.Errorf("%v", got)
	}
	if got := unfinished(context.Canceled, refused); !errors.Is(got, context.Canceled) || errors.Is(got, refused) {
		t.Errorf("Ctrl-C: %v", got)
	}
}

// A large project takes longer to list than a cluster takes to answer.
func TestTheInventoryHasABoundThatTimeoutRaises(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{0: 30 * time.Second, 30 * time.Minute: 30 * time.Second,
		2 * time.Hour: 2 * time.Minute, 24 * time.Hour: 4 * time.Minute} {
		if got := (&World{Subject: Subject{Timeout: timeout}}).inventoryBound(); got != want {
			t.Errorf("--timeout %s: %s, want %s", timeout, got, want)
		}
	}
}
