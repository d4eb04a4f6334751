package openstack

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/cluster-init/cluster-init/e2e/lab/openstack/service"
	"github.com/cluster-init/cluster-init/e2e/lab/progress"
)

func example(t *testing.T) *Lab {
	return &Lab{dir: t.TempDir(), say: progress.New(os.Stderr)}
}

// Whoever stops need not know what the starter knew.
func TestStopOrderTakesAllThatWasStarted(t *testing.T) {
	lab := example(t).WithHypervisor("/lab")
	started := []string{"epmd", "mariadb", "nova-api", "of-another-version", "hypervisor"}
	groups := stopOrder(lab.services(lab.installation()), started)
	order := slices.Concat(groups...)
	if len(order) != len(started) {
		t.Fatalf("stops %v, started %v", order, started)
	}
	if order[0] != "of-another-version" || order[1] != "hypervisor" || order[2] != "nova-api" {
		t.Errorf("order %v", order)
	}
}

func TestHypervisorRunsOnlyWhereThereIsOne(t *testing.T) {
	lab := example(t)
	count := func(lab *Lab) int {
		return len(slices.DeleteFunc(lab.services(lab.installation()),
			func(one service.Service) bool { return one.Name != "hypervisor" }))
	}
	if without, with := count(lab), count(lab.WithHypervisor("/lab")); without != 0 || with != 1 {
		t.Errorf("without %d, with %d", without, with)
	}
}

func TestOnceMarksOnlySuccess(t *testing.T) {
	lab := example(t)
	calls := 0
	run := func(err error) func() error { return func() error { calls++; return err } }
	failed := errors.New("failed")
	for i, step := range []struct {
		result, want error
		calls        int
	}{{failed, failed, 1}, {nil, nil, 2}, {failed, nil, 2}} {
		if err := lab.once("thing", run(step.result)); !errors.Is(err, step.want) || calls != step.calls {
			t.Errorf("step %d: %v after %d calls, want %v after %d", i, err, calls, step.want, step.calls)
		}
	}
}

func TestProjectNeedsALabThatIsUp(t *testing.T) {
	if _, _, err := example(t).Project(t.Context(), "name"); err == nil {
		t.Error("a project in a lab that was never started")
	}
}

// The copy must do when the original, as of `go run`, is gone.
func TestHypervisorIsACopy(t *testing.T) {
	lab := example(t)
	if err := lab.copyHypervisor(); err != nil || exists(lab.binary()) {
		t.Errorf("without a hypervisor: %v, copied: %t", err, exists(lab.binary()))
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.WithHypervisor(program).copyHypervisor(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(lab.binary()); err != nil || info.Mode().Perm() != 0o700 || info.Size() == 0 {
		t.Errorf("copy: %v, %v", info, err)
	}
}
