//go:build integration

package lease_test

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lease"
)

const waitBound = 30 * time.Second

func config(t *testing.T) *rest.Config {
	t.Helper()
	c, err := clientcmd.RESTConfigFromKubeConfig(server.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	c.QPS = -1
	return c
}

// request is for a lease of the test's own that expires soon.
func request(t *testing.T, holder string) lease.Request {
	name := strings.ToLower(strings.NewReplacer("/", ".", "_", "-").Replace(t.Name()))
	return lease.Request{Config: config(t), Where: "the bootstrap cluster", Name: lease.Name("test", name),
		Holder: holder,
		Timing: lease.Timing{Duration: 3 * time.Second, Deadline: 2 * time.Second, Retry: 200 * time.Millisecond},
		Lost:   func(error) {}}
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitBound)
	t.Cleanup(cancel)
	return ctx
}

func take(t *testing.T, r lease.Request) *lease.Lease {
	t.Helper()
	l, err := lease.Take(bounded(t), r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestALiveHolderIsNamedAtOnce(t *testing.T) {
	first := take(t, request(t, "alice@one"))
	defer first.Release()
	var waited string
	second := request(t, "bob@two")
	second.Waiting = func(what string) { waited = what }
	begun := time.Now()
	_, err := lease.Take(bounded(t), second)
	if fault.CodeOf(err) != fault.Busy ||
		!strings.Contains(err.Error(), "alice@one holds the lock on the bootstrap cluster, since ") {
		t.Errorf("the second holder gets %v", err)
	}
	if passed := time.Since(begun); passed > second.Timing.Duration {
		t.Errorf("that took %s, as long as a crash", passed)
	}
	if !strings.Contains(waited, "alice@one") {
		t.Errorf("while it waits it says %q", waited)
	}
}

func TestFreeIsWhatNobodyRenews(t *testing.T) {
	if err := lease.CheckFree(bounded(t), request(t, "bob@two")); err != nil {
		t.Errorf("a lease that does not exist: %v", err)
	}
	crashed(t, "alice@one")
	if err := lease.CheckFree(bounded(t), request(t, "bob@two")); err != nil {
		t.Errorf("one whose holder was killed: %v", err)
	}
	first := take(t, request(t, "alice@one"))
	if err := lease.CheckFree(bounded(t), request(t, "alice@one")); err != nil {
		t.Errorf("one's own: %v", err)
	}
	if err := lease.CheckFree(bounded(t), request(t, "bob@two")); fault.CodeOf(err) != fault.Busy {
		t.Errorf("one that is held: %v", err)
	}
	first.Release()
	silent := request(t, "bob@two")
	closed := make(chan struct{})
	close(closed)
	silent.Config.Wrap(untilClosed(closed))
	if err := lease.CheckFree(bounded(t), silent); err == nil {
		t.Error("a lease that cannot be read is free")
	}
}

func TestWhatWasGivenBackIsFree(t *testing.T) {
	take(t, request(t, "alice@one")).Release()
	take(t, request(t, "bob@two")).Release()
}

// A process that was killed leaves a lease that is not renewed.
func TestALeaseThatNobodyRenewsExpires(t *testing.T) {
	crashed(t, "alice@one")
	second := request(t, "bob@two")
	begun := time.Now()
	take(t, second).Release()
	if passed := time.Since(begun); passed < second.Timing.Duration {
		t.Errorf("it was taken over after %s, while its holder may have lived", passed)
	}
}

// The lock of the state folder proves that an earlier run with it has ended.
func TestOnesOwnLeaseIsTakenOverAtOnce(t *testing.T) {
	crashed(t, "alice@one")
	r := request(t, "alice@one")
	begun := time.Now()
	take(t, r).Release()
	if passed := time.Since(begun); passed > r.Timing.Duration {
		t.Errorf("that took %s", passed)
	}
}

func TestLostIsCalledAtATakeover(t *testing.T) {
	lost := make(chan error, 1)
	r := request(t, "alice@one")
	r.Lost = func(err error) { lost <- err }
	l := take(t, r)
	defer l.Release()
	crashed(t, "bob@two")
	select {
	case err := <-lost:
		if fault.CodeOf(err) != fault.Busy || !strings.Contains(err.Error(), "bob@two has taken over") {
			t.Errorf("Lost gets %v", err)
		}
	case <-bounded(t).Done():
		t.Error("Lost is not called")
	}
}

// A person who insists takes it over: the one that had it ends soon, and only then does Take return.
func TestAForcedTakeoverEndsTheOtherRun(t *testing.T) {
	ctx, set := lease.NewSet(bounded(t))
	defer set.ReleaseAll()
	alice := request(t, "alice@one")
	alice.Timing.Retry = 390 * time.Millisecond // so that bob has it before alice knows
	if _, err := set.Take(ctx, alice); err != nil {
		t.Fatal(err)
	}
	var said error
	r := request(t, "bob@two")
	r.Forced = func(busy error) { said = busy }
	l := take(t, r)
	defer l.Release()
	if fault.CodeOf(said) != fault.Busy ||
		!strings.Contains(said.Error(), "alice@one holds the lock on the bootstrap cluster, since ") {
		t.Errorf("Forced was called with %v", said)
	}
	if err := context.Cause(ctx); fault.CodeOf(err) != fault.Busy ||
		!strings.Contains(err.Error(), "bob@two has taken over") {
		t.Errorf("when it was taken over, the other run's context has the cause %v", err)
	}
	if err := lease.CheckFree(bounded(t), request(t, "alice@one")); fault.CodeOf(err) != fault.Busy {
		t.Errorf("afterwards alice gets %v", err)
	}
}

// Who insists does not wait for a run that was killed until its lease has expired.
func TestAForcedTakeoverFromADeadRun(t *testing.T) {
	crashed(t, "alice@one")
	r := request(t, "bob@two")
	r.Timing.Duration = time.Minute // is never waited for
	var said string
	r.Forced = func(err error) { said = err.Error() }
	begun := time.Now()
	take(t, r).Release()
	if passed := time.Since(begun); passed < 2*r.Timing.Retry || passed > r.Timing.Duration/2 {
		t.Errorf("that took %s", passed)
	}
	if !strings.HasPrefix(said, "alice@one has held the lock on the bootstrap cluster since ") ||
		!strings.HasSuffix(said, "has given no sign of life for 400ms") {
		t.Errorf("it said %q", said)
	}
}

// A run without permission to write fails at once, forced or not.
func TestAReadOnlyClusterIsNamed(t *testing.T) {
	r := request(t, "bob@two")
	r.Config.Wrap(readOnly)
	for _, held := range []bool{false, true} {
		r.Forced = func(err error) { t.Errorf("it was taken over: %v", err) }
		if held {
			defer take(t, request(t, "alice@one")).Release()
		}
		begun := time.Now()
		if _, err := lease.Take(bounded(t), r); err == nil || !strings.Contains(err.Error(), "forbidden") ||
			!strings.Contains(fault.HintOf(err), "Allow get, create and update of leases") {
			t.Errorf("%v, %q", err, fault.HintOf(err))
		}
		if passed := time.Since(begun); passed > r.Timing.Duration {
			t.Errorf("that took %s", passed)
		}
	}
}

// A cluster in deletion takes its lease along: until it is gone no other run gets the lease, and its loss ends nothing.
func TestALeaseEndsWithItsCluster(t *testing.T) {
	for name, silentFirst := range map[string]bool{"it answers": false, "it is gone": true} {
		t.Run(name, func(t *testing.T) {
			ctx, set := lease.NewSet(bounded(t))
			defer set.ReleaseAll()
			r := request(t, "alice@one")
			silent := make(chan struct{})
			r.Config.Wrap(untilClosed(silent))
			if _, err := set.Take(ctx, r); err != nil {
				t.Fatal(err)
			}
			if silentFirst {
				close(silent)
			}
			begun := time.Now()
			set.StopRenewing(r.Where)
			if passed := time.Since(begun); passed > r.Timing.Deadline {
				t.Errorf("that took %s", passed)
			}
			other := request(t, "carol@three")
			begun = time.Now()
			take(t, other).Release()
			if passed := time.Since(begun); passed < other.Timing.Duration {
				t.Errorf("another holder had it after %s", passed)
			}
			if err := context.Cause(ctx); err != nil {
				t.Errorf("the run ended because of %v", err)
			}
		})
	}
}

func TestAnAPIServerThatIsSilentLosesIt(t *testing.T) {
	lost := make(chan error, 1)
	r := request(t, "alice@one")
	r.Lost = func(err error) { lost <- err }
	silent := make(chan struct{})
	r.Config.Wrap(untilClosed(silent))
	l := take(t, r)
	defer l.Release()
	close(silent)
	select {
	case err := <-lost:
		if fault.CodeOf(err) != fault.ClusterUnreachable {
			t.Errorf("Lost gets %v", err)
		}
	case <-bounded(t).Done():
		t.Error("Lost is not called")
	}
}

func TestASetEndsItsContextWithTheReason(t *testing.T) {
	ctx, set := lease.NewSet(bounded(t))
	defer set.ReleaseAll()
	r := request(t, "alice@one")
	crashed(t, "carol@three")
	for _, want := range []bool{true, false} { // the second time it has it already
		if waited, err := set.Take(ctx, r); err != nil || waited != want {
			t.Fatalf("waited: %v, %v", waited, err)
		}
	}
	crashed(t, "bob@two")
	<-ctx.Done()
	if err := context.Cause(ctx); fault.CodeOf(err) != fault.Busy {
		t.Errorf("the context ended because of %v", err)
	}
}

// crashed leaves the test's lease as a process of holder does that was killed a moment ago.
func crashed(t *testing.T, holder string) {
	t.Helper()
	client := coordinationv1.NewForConfigOrDie(config(t)).Leases("kube-system")
	name := request(t, holder).Name
	if _, err := client.Get(bounded(t), name, metav1.GetOptions{}); err != nil {
		take(t, request(t, holder)).Release()
	}
	for {
		l, err := client.Get(bounded(t), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		now := metav1.NewMicroTime(time.Now())
		l.Spec.HolderIdentity, l.Spec.RenewTime, l.Spec.AcquireTime = &holder, &now, &now
		seconds := int32(3)
		l.Spec.LeaseDurationSeconds = &seconds
		if _, err := client.Update(bounded(t), l, metav1.UpdateOptions{}); err == nil {
			return
		} // its holder renewed it meanwhile
	}
}
