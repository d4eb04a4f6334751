package evidence

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// providerLabel is the label that Cluster API's providers have on all that they install.
const providerLabel = "cluster.x-k8s.io/provider"

// maxLogs limits the logs that are read of one cluster. The previous log of a container counts separately.
const maxLogs = 60

// podLogs writes the ends of the logs of controllers, and of all pods that are not ready.
func podLogs(ctx context.Context, f *folder, cluster *kube.Cluster) {
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		f.problem("pod logs of the %s cluster: %v", cluster.Name, err)
		return
	}
	var logs []podLog
	bounded(ctx, f, "pod logs of the "+cluster.Name+" cluster", func(ctx context.Context) error {
		list, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range selectPods(list.Items) {
			logs = append(logs, logsOf(pod)...)
		}
		return nil
	})
	if len(logs) > maxLogs {
		f.problem("further pod logs of the %s cluster: only the first %d logs were collected", cluster.Name, maxLogs)
		logs = logs[:maxLogs]
	}
	for _, log := range logs {
		name := cluster.Name + "/logs/" + log.fileName()
		bounded(ctx, f, name, func(ctx context.Context) error {
			text, err := log.read(ctx, client)
			if err == nil {
				f.text(name, "end of a container's log", text)
			}
			return err
		})
	}
}

// selectPods returns the pods that are not ready, and after them the other pods of Flux, cert-manager and providers. A
// namespace with a pod of a provider counts as the provider's.
func selectPods(pods []corev1.Pod) []corev1.Pod {
	namespaces := map[string]bool{"flux-system": true, "cert-manager": true}
	for _, p := range pods {
		if _, labelled := p.Labels[providerLabel]; labelled {
			namespaces[p.Namespace] = true
		}
	}
	var unready, controllers []corev1.Pod
	for _, p := range pods {
		switch {
		case !ready(p) && p.Status.Phase != corev1.PodSucceeded:
			unready = append(unready, p)
		case namespaces[p.Namespace]:
			controllers = append(controllers, p)
		}
	}
	return append(unready, controllers...)
}

func ready(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// podLog is the log of a container, or of its previous run.
type podLog struct {
	namespace, pod, container string
	previous                  bool
}

// logsOf returns the logs of the containers and init containers of a pod that run or have run.
func logsOf(pod corev1.Pod) []podLog {
	var logs []podLog
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		log := podLog{namespace: pod.Namespace, pod: pod.Name, container: status.Name}
		if status.State.Running != nil || status.State.Terminated != nil {
			logs = append(logs, log)
		}
		if status.RestartCount > 0 {
			log.previous = true
			logs = append(logs, log)
		}
	}
	return logs
}

func (l podLog) fileName() string {
	suffix := ".log"
	if l.previous {
		suffix = ".previous.log"
	}
	return fmt.Sprintf("%s.%s.%s%s", l.namespace, l.pod, l.container, suffix)
}

// read returns the end of the log.
func (l podLog) read(ctx context.Context, client kubernetes.Interface) (string, error) {
	return kube.LogTail(ctx, client, l.namespace, l.pod, corev1.PodLogOptions{Container: l.container,
		Previous: l.previous, TailLines: ptr.To(int64(logLines))}, logBytes)
}
