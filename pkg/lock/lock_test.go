package lock_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/lock"
)

// holderFolder has this test program hold the lock of a folder until it is killed.
const holderFolder = "LOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	folder := os.Getenv(holderFolder)
	if folder == "" {
		os.Exit(m.Run())
	}
	if _, err := lock.Acquire(path(folder), lock.Holder{Command: "up kubeadm-capd", Host: "ci", PID: 7,
		Since: time.Now()}); err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString("held\n")
	select {}
}

func path(folder string) string { return filepath.Join(folder, "demo.lock") }

func acquire(t *testing.T, folder string) *lock.Lock {
	t.Helper()
	l, err := lock.Acquire(path(folder), lock.Holder{Command: "cleanup"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestASecondProcessIsTurnedAwayUntilTheFirstIsKilled(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "state", "demo")
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holderFolder+"="+folder)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	_, err = lock.Acquire(path(folder), lock.Holder{})
	if fault.CodeOf(err) != fault.Busy ||
		!strings.Contains(err.Error(), "`cluster-init up kubeadm-capd` (process 7 on ci, since ") ||
		fault.HintOf(err) == "" {
		t.Errorf("got %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // killed
	if err := acquire(t, folder).Release(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestFoldersThatWereMadeForItGoWithIt(t *testing.T) {
	home := t.TempDir()
	if err := acquire(t, filepath.Join(home, ".local", "state")).Release(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestWhatElseIsInTheFolderStays(t *testing.T) {
	folder := t.TempDir()
	kept := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := acquire(t, folder).Release(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestALockThatIsWaitedFor(t *testing.T) {
	folder := t.TempDir()
	first := acquire(t, folder)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := lock.Await(ctx, path(folder), lock.Holder{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another one has it: %v", err)
	}
	taken := make(chan error, 1)
	go func() {
		l, err := lock.Await(t.Context(), path(folder), lock.Holder{})
		if err == nil {
			err = l.Release()
		}
		taken <- err
	}()
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-taken; err != nil {
		t.Error(err)
	}
}

// cleanup deletes the folder that its own lock is in: who comes then has another file.
func TestAFolderThatIsDeletedMeanwhile(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "demo")
	first := acquire(t, folder)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	second := acquire(t, folder)
	if err := second.Release(); err != nil {
		t.Error(err)
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
}

func TestOnlyOneOfManyHasIt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "demo")
	var inside, won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				l, err := lock.Acquire(path(folder), lock.Holder{})
				if fault.CodeOf(err) == fault.Busy {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two have the lock")
				}
				won.Add(1)
				inside.Add(-1)
				if err := l.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if won.Load() == 0 {
		t.Error("no holder ever had it")
	}
}
