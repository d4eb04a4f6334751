package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// providerLabel is the label on all objects that Cluster API's providers install.
const providerLabel = "cluster.x-k8s.io/provider"

const (
	maxLogs       = 12   // logs of containers to read per cluster
	maxLogLines   = 1000 // lines to read per log
	shownLogLines = 5    // lines to print
	maxErrors     = 3    // errors to keep per log and machine: controllers repeat them hundreds of times
)

// readLogs adds the logs of crashing containers to a snapshot. It also adds what the controllers of infrastructure and
// bootstrap providers log as errors about machines that are not ready. It returns what could not be read.
func (s *Snapshot) readLogs(ctx context.Context, c *kube.Cluster) (notChecked []string) {
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return []string{fmt.Sprintf("logs of the %s cluster: %v", c.Name, err)}
	}
	read := 0
	for _, wanted := range s.wantedLogs() {
		if read++; read > maxLogs {
			return append(notChecked, fmt.Sprintf(
				"more logs of the %s cluster: only those of %d containers are read",
				c.Name, maxLogs))
		}
		lines, err := readLog(ctx, client, wanted)
		if err != nil {
			notChecked = append(notChecked, fmt.Sprintf("log of container %s of %s in the %s cluster: %v",
				wanted.container,
				wanted.pod, c.Name, err))
			continue
		}
		wanted.use(lines)
	}
	return notChecked
}

// wantedLog is a container's log that may show a cause.
type wantedLog struct {
	pod       health.Ref
	container string
	previous  bool
	use       func(lines []string)
}

func (s *Snapshot) wantedLogs() []wantedLog {
	var controllers, crashed []wantedLog
	for _, r := range s.sorted() {
		u := s.objects[r]
		if r.Kind != "Pod" || r.Group != "" {
			continue
		}
		if provider := u.GetLabels()[providerLabel]; strings.HasPrefix(provider, "infrastructure-") ||
			strings.HasPrefix(provider, "bootstrap-") {
			for _, name := range containersOf(u) {
				controllers = append(controllers, wantedLog{pod: r, container: name, use: s.aboutMachines})
			}
		}
		for _, ended := range endedOf(u) {
			ended.pod, ended.use = r, func(lines []string) {
				s.logs[r] = append(s.logs[r], lines[max(0, len(lines)-shownLogLines):]...)
			}
			crashed = append(crashed, ended)
		}
	}
	if len(s.machinesNotReady()) == 0 {
		controllers = nil
	}
	return slices.Concat(crashed, controllers)
}

// aboutMachines keeps the newest errors of a controller about each machine that is not ready. An error is past if the
// controller has since logged an entry about the machine that is no error.
func (s *Snapshot) aboutMachines(lines []string) {
	all := entries(lines)
	for _, r := range s.machinesNotReady() {
		kept, past := 0, false
		for _, e := range slices.Backward(all) {
			switch {
			case kept == maxErrors || !e.about(r):
			case !e.isError():
				past = true
			case !slices.ContainsFunc(s.machineSignals[r], func(known Signal) bool { return known.Message == e.err() }):
				s.machineSignals[r] = append(s.machineSignals[r],
					Signal{Origin: originLog, Message: e.err(), Past: past, At: e.at(time.Now())})
				kept++
			}
		}
	}
}

// machinesNotReady returns the objects of infrastructure providers, such as machines, that should be ready and are not.
func (s *Snapshot) machinesNotReady() []health.Ref {
	return slices.DeleteFunc(s.sorted(), func(r health.Ref) bool {
		return r.Group != "infrastructure.cluster.x-k8s.io" || strings.HasSuffix(r.Kind, "Template") ||
			s.state(r).Status == health.Ready || s.objects[r].GetDeletionTimestamp() != nil
	})
}

func containersOf(pod *unstructured.Unstructured) []string {
	var names []string
	list, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	for _, item := range list {
		container, _ := item.(map[string]any)
		if name, _ := container["name"].(string); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// endedOf returns the containers of a pod that ended with an error and are not ready again.
func endedOf(pod *unstructured.Unstructured) []wantedLog {
	var found []wantedLog
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", field)
		for _, status := range statuses {
			container, _ := status.(map[string]any)
			if len(containerSignals(container)) == 0 || container["ready"] == true {
				continue
			}
			name, _ := container["name"].(string)
			_, ended, _ := unstructured.NestedMap(container, "state", "terminated")
			_, before, _ := unstructured.NestedMap(container, "lastState", "terminated")
			if ended || before {
				found = append(found, wantedLog{container: name, previous: !ended})
			}
		}
	}
	return found
}

func readLog(ctx context.Context, client kubernetes.Interface, w wantedLog) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	content, err := kube.LogTail(ctx, client, w.pod.Namespace, w.pod.Name, corev1.PodLogOptions{Container: w.container,
		Previous: w.previous, TailLines: ptr.To(int64(maxLogLines))}, 4<<20)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(content), "\n"), nil
}
