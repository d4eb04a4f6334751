package quorum_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cluster-init/cluster-init/pkg/backup"
	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/provider"
	"github.com/cluster-init/cluster-init/pkg/restore/quorum"
)

const authority = "-----BEGIN CERTIFICATE-----\nb3Vycw==\n-----END CERTIFICATE-----\n"

// machine stands in for a machine of kubeadm: it answers questions, and records its steps.
type machine struct {
	name, address, version, authority, health string
	member                                    string // its name in etcd; empty: name
	stopped, unreached                        bool
	fails                                     string // the step that fails
	did                                       []string
	healed                                    string // the step after which its etcd has a leader
}

func (m *machine) Name() string { return m.name }

func (m *machine) Stopped() bool { return m.stopped }

func (m *machine) Run(_ context.Context, stdin io.Reader, args ...string) (string, error) {
	if m.unreached {
		return "", fmt.Errorf("no way: %w", provider.ErrNotReached)
	}
	line := strings.Join(args, " ")
	if stdin != nil {
		if _, err := io.ReadAll(stdin); err != nil {
			return "", err
		}
	}
	switch {
	case strings.Contains(line, "/etc/kubernetes/manifests/etcd.yaml"):
		return fmt.Sprintf(`{apiVersion: v1, kind: Pod, spec: {containers: [{name: etcd, 
image: "registry.k8s.io/etcd:3.6.8",
command: [etcd, --name=%s, --data-dir=/var/lib/etcd, --initial-advertise-peer-urls=https://%s:2380]}]}}`,
			cmp.Or(m.member, m.name), m.address), nil
	case strings.Contains(line, "/etc/kubernetes/manifests/kube-apiserver.yaml"):
		return fmt.Sprintf(`{apiVersion: v1, kind: Pod, spec: {containers: [{name: kube-apiserver,
image: "registry.k8s.io:5000/kube-apiserver:%s@sha256:abc"}]}}`, m.version), nil
	case strings.Contains(line, "ca.crt") && args[0] == "cat":
		return m.authority, nil
	case strings.Contains(line, "endpoint health"):
		return m.health, nil
	}
	for _, step := range []string{"sha256sum", "crictl ps", "etcdutl", "member", "rmdir"} {
		if strings.Contains(line, step) {
			m.did = append(m.did, step)
			if step == m.healed {
				m.health = "127.0.0.1:2379 is healthy"
			}
			if step == m.fails {
				return "", errors.New("no space left on device")
			}
			return "", nil
		}
	}
	return "", fmt.Errorf("it does not know %q", line)
}

// world is a cluster that lost its majority, and a backup that fits.
type world struct {
	machine *machine
	others  []provider.ControlPlane
	backup  *backup.Backup
	ready   error
	refused error // the address cannot be given
}

func newWorld() *world {
	b := &backup.Backup{Snapshot: []byte("snapshot"), Manifest: backup.Manifest{Cluster: "mgmt",
		Identity: backup.IdentityOf([]byte(authority)), Kubernetes: "v1.36.4", Etcd: &backup.EtcdSnapshot{
			Version: "3.6.8", Taken: time.Now(), Members: []backup.EtcdMember{{Name: "cp-a", Address: "172.18.0.4"},
				{Name: "cp-b", Address: "172.18.0.5"}, {Name: "cp-c", Address: "172.18.0.6"}}}}}
	return &world{backup: b, ready: errors.New("connection refused"), machine: &machine{name: "cp-b",
		address: "172.18.0.5", version: "v1.36.4", authority: authority,
		health: "127.0.0.1:2379 is unhealthy: failed to commit\n"}}
}

func (w *world) input() quorum.Input {
	return quorum.Input{Backup: w.backup, Now: time.Now, Report: func(string, ...any) {},
		Starting: func(name string) error {
			w.machine.did = append(w.machine.did, "starting "+name)
			return nil
		},
		Ready: func(context.Context) error {
			if len(w.machine.did) == 7 {
				return nil
			}
			return w.ready
		},
		Machines: w}
}

func (w *world) ControlPlanes(context.Context) ([]provider.ControlPlane, error) {
	return append([]provider.ControlPlane{w.machine}, w.others...), nil
}

// GiveAddress records when it was asked.
func (w *world) GiveAddress(_ context.Context, machine string) (string, error) {
	w.machine.did = append(w.machine.did, "address of "+machine)
	if w.refused != nil {
		return "", w.refused
	}
	return "203.0.113.1", nil
}

func (w *world) Commands() provider.Commands {
	return provider.Commands{Start: "machines start", Delete: "machines delete NAME"}
}

func TestRestore(t *testing.T) {
	w := newWorld()
	if on, err := quorum.Run(t.Context(), w.input()); err != nil || on.Name() != "cp-b" {
		t.Fatalf("on %v: %v", on, err)
	}
	if got := strings.Join(w.machine.did, ", "); got != "address of cp-b, sha256sum, crictl ps, etcdutl, member, "+
		"starting cp-b, rmdir" {
		t.Errorf("it did %s", got)
	}
}

// While the snapshot is written, another run may have restored one: nothing more is done.
func TestRestoreLooksAgain(t *testing.T) {
	w := newWorld()
	w.machine.healed = "sha256sum"
	if _, err := quorum.Run(t.Context(), w.input()); !errors.Is(err, quorum.ErrMajority) {
		t.Error(err)
	}
	if got := strings.Join(w.machine.did, ", "); got != "address of cp-b, sha256sum" {
		t.Errorf("it did %s", got)
	}
}

// An address that cannot be given ends the restore before the machine is changed.
func TestRestoreNeedsTheAddress(t *testing.T) {
	w := newWorld()
	w.refused = fault.New(fault.CloudUnreachable, "the cloud does not answer", "Run it again.")
	if _, err := quorum.Run(t.Context(), w.input()); fault.CodeOf(err) != fault.CloudUnreachable {
		t.Error(err)
	}
	if got := strings.Join(w.machine.did, ", "); got != "address of cp-b" {
		t.Errorf("it did %s", got)
	}
}

// A step that fails ends the restore: what comes after it is not done, and a second run does all of it.
func TestRestoreEndsAtTheFirstFailure(t *testing.T) {
	for _, step := range []string{"sha256sum", "crictl ps", "etcdutl", "member", "rmdir"} {
		w := newWorld()
		w.machine.fails = step
		_, err := quorum.Run(t.Context(), w.input())
		if fault.CodeOf(err) != fault.RestoreFailed || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", step, err)
		}
		if last := w.machine.did[len(w.machine.did)-1]; last != step {
			t.Errorf("after %s it did %s", step, last)
		}
	}
}

// Whatever makes the snapshot unfit, or may mean that nothing is lost, is refused by name, before anything is changed.
func TestRestoreRefuses(t *testing.T) {
	stopped := &machine{name: "cp-a", stopped: true}
	for name, tc := range map[string]struct {
		spoil func(*world)
		code  fault.Code
		want  string
	}{
		"its machines were replaced": {func(w *world) { w.machine.name = "cp-d" }, fault.BackupInvalid, "have changed"},
		"its machine has moved": {func(w *world) { w.machine.address = "172.18.0.50" },
			fault.BackupInvalid, "50, and had"},
		"another version": {func(w *world) { w.machine.version = "v1.36.5" },
			fault.BackupInvalid, "v1.36.5"},
		"another cluster": {func(w *world) { w.machine.authority = strings.Replace(authority, "b3", "c3", 1) },
			fault.BackupInvalid, "another cluster"},
		"an unknown cluster": {func(w *world) { w.backup.Manifest.Identity = "" },
			fault.BackupInvalid, "another cluster"},
		"no snapshot":      {func(w *world) { w.backup.Manifest.Etcd = nil }, fault.BackupInvalid, "no snapshot"},
		"the API is ready": {func(w *world) { w.ready = nil }, fault.RestoreRefused, "has a majority"},
		"credentials are refused": {func(w *world) { w.ready = apierrors.NewUnauthorized("no") }, fault.RestoreRefused,
			"does not say"},
		"etcd has a leader": {func(w *world) { w.machine.health = "127.0.0.1:2379 is healthy\n" },
			fault.RestoreRefused, "has a leader"},
		"etcd does not say": {func(w *world) { w.machine.health = "" }, fault.RestoreRefused, "it says"},
		"a stopped machine": {func(w *world) { w.others = append(w.others, stopped) },
			fault.RestoreRefused, "cp-b, cp-a"},
		"etcd of the second machine has a leader": {func(w *world) {
			second := *w.machine
			second.name, second.health = "cp-c", "127.0.0.1:2379 is healthy\n"
			w.others = append(w.others, &second)
		}, fault.RestoreRefused, "etcd on cp-c answers"},
		"etcd has an alarm": {func(w *world) { w.machine.health = "is unhealthy: active alarm(s)" },
			fault.RestoreRefused, "has a leader"},
		"a second machine that runs and is not reached": {func(w *world) {
			w.others = append(w.others, &machine{name: "cp-c", unreached: true})
		}, fault.RestoreRefused, "cp-b, cp-c"},
		"only a machine that is not reached": {func(w *world) { w.machine.unreached = true }, fault.RestoreRefused,
			"no way"},
		"another member than its name says": {func(w *world) { w.machine.name, w.machine.member = "cp-d", "cp-b" },
			fault.RestoreRefused, "machine cp-d is the member cp-b"},
		"a second machine": {func(w *world) {
			w.others = append(w.others, &machine{name: "cp-c", health: w.machine.health})
		}, fault.RestoreRefused, "cp-b, cp-c"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tc.spoil(w)
			_, err := quorum.Run(t.Context(), w.input())
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.want) || fault.HintOf(err) == "" {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if len(w.machine.did) > 0 {
				t.Errorf("it did %v", w.machine.did)
			}
		})
	}
}

// An incomplete manifest, or one with another data-dir, is refused.
func TestLookRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*machine){
		"no name":    func(m *machine) { m.name = "" },
		"no address": func(m *machine) { m.address = "" },
		"no version": func(m *machine) { m.version = "" },
	} {
		m := newWorld().machine
		spoil(m)
		if s, err := quorum.Look(t.Context(), m); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The commands in the hints are those of the system that the machines are in.
func TestHintsHaveTheCommandsOfTheProvider(t *testing.T) {
	w := newWorld()
	w.others = append(w.others, &machine{name: "cp-a", stopped: true})
	if _, err := quorum.Check(t.Context(), w.input()); !strings.Contains(fault.HintOf(err), "machines delete NAME") {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
	w = newWorld()
	w.machine.stopped = true
	if _, err := quorum.Check(t.Context(), w.input()); !strings.Contains(fault.HintOf(err), "(machines start)") {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
}
