//go:build capa

package providers

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
)

// manager is one controller manager: a process with what its Deployment gives it.
type manager struct {
	name            string
	process         *exec.Cmd
	webhook, health int // ports
	output          *lastLines
	ended           chan struct{}
}

// place is where a manager runs.
type place struct {
	binaries, folder string
	kubeconfig       []byte
	serving          certificate
	secrets          map[string]map[string]any // data by namespace/name
	env, args        []string                  // after those of the Deployment
}

// binaries are the lab's names of the managers, by their Deployments.
var binaries = map[string]string{
	"capi-controller-manager":                       "core",
	"capd-controller-manager":                       "capd",
	"capo-controller-manager":                       "capo",
	"rke2-bootstrap-controller-manager":             "bootstrap-rke2",
	"rke2-control-plane-controller-manager":         "controlplane-rke2",
	"capi-kubeadm-bootstrap-controller-manager":     "bootstrap-kubeadm",
	"capi-kubeadm-control-plane-controller-manager": "controlplane-kubeadm",
	"capa-controller-manager":                       "capa",
}

// newManager prepares the process of a Deployment.
func newManager(object *unstructured.Unstructured, p place) (*manager, error) {
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
		return nil, err
	}
	binary := binaries[deployment.Name]
	if binary == "" || len(deployment.Spec.Template.Spec.Containers) != 1 {
		return nil, fmt.Errorf("the Deployment %s is not known", deployment.Name)
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	m := &manager{name: deployment.Name, webhook: ports[0], health: ports[1], output: &lastLines{},
		ended: make(chan struct{})}
	home := filepath.Join(p.folder, deployment.Name)
	kubeconfig := filepath.Join(home, "kubeconfig")
	if err := writeFiles(home, map[string][]byte{"kubeconfig": p.kubeconfig}); err != nil {
		return nil, err
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	places, err := mounts(deployment.Spec.Template.Spec, container, deployment.Namespace, home, p)
	if err != nil {
		return nil, err
	}
	args := append([]string{}, container.Args...)
	args = append(args, "--leader-elect=false", "--insecure-diagnostics=true",
		fmt.Sprintf("--webhook-port=%d", ports[0]), fmt.Sprintf("--health-addr=127.0.0.1:%d", ports[1]),
		fmt.Sprintf("--diagnostics-address=127.0.0.1:%d", ports[2]),
		"--webhook-cert-dir="+places["/tmp/k8s-webhook-server/serving-certs"])
	m.process = exec.Command(filepath.Join(p.binaries, binary), append(args, p.args...)...)
	m.process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "KUBECONFIG=" + kubeconfig}
	for _, variable := range container.Env {
		value := variable.Value
		if variable.ValueFrom != nil && variable.ValueFrom.FieldRef != nil &&
			variable.ValueFrom.FieldRef.FieldPath == "metadata.namespace" {
			value = deployment.Namespace
		}
		for mounted, real := range places {
			if strings.HasPrefix(value, mounted+"/") {
				value = real + strings.TrimPrefix(value, mounted)
			}
		}
		m.process.Env = append(m.process.Env, variable.Name+"="+value)
	}
	m.process.Env = append(m.process.Env, p.env...)
	m.process.Stdout, m.process.Stderr = m.output, m.output
	// A test that is killed takes its managers with it.
	m.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return m, nil
}

// mounts writes the Secrets that a container mounts and returns where each mount path is.
func mounts(pod corev1.PodSpec, container corev1.Container, namespace, home string, p place) (map[string]string,
	error) {
	places := map[string]string{}
	for _, mount := range container.VolumeMounts {
		for _, volume := range pod.Volumes {
			if volume.Name != mount.Name || volume.Secret == nil {
				continue
			}
			files := map[string][]byte{}
			if strings.HasSuffix(volume.Secret.SecretName, "-webhook-service-cert") { // cert-manager's
				files["tls.crt"], files["tls.key"] = p.serving.certificate, p.serving.key
			} else {
				data, found := p.secrets[namespace+"/"+volume.Secret.SecretName]
				if !found {
					return nil, fmt.Errorf("the Secret %s/%s is not among the objects", namespace,
						volume.Secret.SecretName)
				}
				for key, value := range data {
					content, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
					if err != nil {
						return nil, fmt.Errorf("Secret %s/%s, key %s: %w", namespace, volume.Secret.SecretName, key,
							err)
					}
					files[key] = content
				}
			}
			folder := filepath.Join(home, "volumes", volume.Name)
			if err := writeFiles(folder, files); err != nil {
				return nil, err
			}
			places[mount.MountPath] = folder
		}
	}
	return places, nil
}

// start starts the process and waits, for at most two minutes, until it says that it is ready.
func (m *manager) start(ctx context.Context) error {
	started := make(chan error, 1)
	go func() { // stop waits for it
		goruntime.LockOSThread() // Pdeathsig is about the thread that started the process
		defer close(m.ended)
		err := m.process.Start()
		started <- err
		if err == nil {
			_ = m.process.Wait()
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", m.name, err)
	}
	ready := fmt.Sprintf("http://127.0.0.1:%d/readyz", m.health)
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 2*time.Minute, true,
		func(ctx context.Context) (bool, error) {
			select {
			case <-m.ended:
				return false, errors.New("it ended")
			default:
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, ready, nil)
			if err != nil {
				return false, err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return false, nil // it does not listen yet
			}
			return response.StatusCode == http.StatusOK, response.Body.Close()
		})
	if err != nil {
		return fmt.Errorf("wait for %s: %w\n%s", m.name, err, m.output)
	}
	return nil
}

// stop ends the process.
func (m *manager) stop() {
	if m.process.Process == nil {
		return
	}
	_ = m.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.ended:
	case <-time.After(15 * time.Second):
		_ = m.process.Process.Kill()
		<-m.ended
	}
}
