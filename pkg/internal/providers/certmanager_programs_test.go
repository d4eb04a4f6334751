//go:build integration && capa

package providers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/cluster-init/cluster-init/pkg/internal/apiserver"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// certManagerPrograms are the lab's names of cert-manager's programs, by their Deployments.
var certManagerPrograms = map[string]string{
	"cert-manager": "controller", "cert-manager-webhook": "webhook", "cert-manager-cainjector": "cainjector",
}

// program is one of cert-manager's programs, which runs as a process with the arguments and the rights of its
// Deployment.
type program struct {
	*exec.Cmd
	output  lastLines
	ended   chan error
	stopped bool
}

// startProgram starts the program of a Deployment; args follow those that the Deployment gives.
func startProgram(ctx context.Context, t *testing.T, cluster *kube.Cluster, deployment *appsv1.Deployment,
	args ...string) *program {
	t.Helper()
	pod := deployment.Spec.Template.Spec
	kubeconfig, err := accountKubeconfig(ctx, cluster, deployment.Namespace, pod.ServiceAccountName)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := writeFiles(folder, map[string][]byte{"kubeconfig": kubeconfig}); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, arg := range pod.Containers[0].Args {
		all = append(all, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", deployment.Namespace))
	}
	all = append(append(all, "--kubeconfig="+filepath.Join(folder, "kubeconfig")), args...)
	p := &program{ended: make(chan error, 1)}
	p.Cmd = exec.Command(filepath.Join(os.Getenv(apiserver.BinariesVariable), certManagerPrograms[deployment.Name]),
		all...)
	p.Env, p.Stdout, p.Stderr = []string{"POD_NAMESPACE=" + deployment.Namespace}, &p.output, &p.output
	// A test that is killed takes its programs with it.
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error, 1)
	go func() { // stop waits for it
		goruntime.LockOSThread() // Pdeathsig is about the thread that started the process
		err := p.Start()
		started <- err
		if err == nil {
			p.ended <- p.Wait()
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil || t.Failed() {
			t.Errorf("%s: %v\n%s", deployment.Name, err, p.output.String())
		}
	})
	return p
}

// stop ends the program as a kubelet does. A second call does nothing.
func (p *program) stop() error {
	if p.stopped {
		return nil
	}
	p.stopped = true
	_ = p.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-p.ended:
		return err
	case <-time.After(30 * time.Second):
		_ = p.Process.Kill()
		return errors.Join(errors.New("it did not end on SIGTERM"), <-p.ended)
	}
}

// accountKubeconfig returns a kubeconfig of a ServiceAccount.
func accountKubeconfig(ctx context.Context, cluster *kube.Cluster, namespace, name string) ([]byte, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	request := &authenticationv1.TokenRequest{}
	if err := cluster.SubResource("token").Create(ctx, account, request); err != nil {
		return nil, fmt.Errorf("create a token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	config, err := clientcmd.Load(cluster.Kubeconfig)
	if err != nil {
		return nil, err
	}
	for user := range config.AuthInfos {
		config.AuthInfos[user] = &api.AuthInfo{Token: request.Status.Token}
	}
	return clientcmd.Write(*config)
}
