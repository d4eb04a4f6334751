//go:build integration

package fluxserver

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/cluster-init/cluster-init/pkg/flux"
	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
)

// RunKustomizeController runs the real kustomize-controller, which the lab has built, with the server until the test
// ends.
func (s Server) RunKustomizeController(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(kubeconfig, s.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(os.Getenv(apiserver.BinariesVariable), "kustomize-controller")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("look for kustomize-controller: %v: `go run ./e2e/lab binaries` prints a folder that has it", err)
	}
	var output bytes.Buffer
	process := exec.Command(program, "--metrics-addr=127.0.0.1:0", "--health-addr=127.0.0.1:0", "--log-level=info",
		"--requeue-dependency=1s", "--no-remote-bases=true",
		"--feature-gates=CancelHealthCheckOnNewRevision=true,MigrateAPIVersion=true")
	process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "KUBECONFIG=" + kubeconfig,
		"RUNTIME_NAMESPACE=" + flux.Namespace}
	process.Stdout, process.Stderr = &output, &output
	process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // a test that is killed takes it along
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread() // Pdeathsig is about the thread that started the process
		defer close(ended)
		err := process.Start()
		started <- err
		if err == nil {
			_ = process.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(fmt.Errorf("start kustomize-controller: %w", err))
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(15 * time.Second):
			_ = process.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("kustomize-controller:\n%s", output.String())
		}
	})
}
