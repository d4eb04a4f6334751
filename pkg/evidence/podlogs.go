package evidence

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cluster-init/cluster-init/pkg/kube"
)

// providerLabel is what Cluster API's providers carry on all that they install.
const providerLabel = "cluster.x-k8s.io/provider"

// mostLogs bounds how many containers' logs are read of one cluster.
const mostLogs = 60

// podLogs writes the ends of the logs of controllers, and of whatever else is not ready.
func podLogs(ctx context.Context, f *folder, cluster *kube.Cluster) {
	client, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		f.problem("pod logs of the %s cluster: %v", cluster.Name, err)
		return
	}
	var pods []corev1.Pod
	bounded(ctx, f, "pod logs of the "+cluster.Name+" cluster", func(ctx context.Context) error {
		list, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
		if err == nil {
			pods = ofInterest(list.Items)
		}
		return err
	})
	read := 0
	for _, pod := range pods {
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			name := fmt.Sprintf("%s/logs/%s.%s.%s", cluster.Name, pod.Namespace, pod.Name, status.Name)
			for _, previous := range []bool{false, true} {
				suffix := map[bool]string{false: ".log", true: ".previous.log"}[previous]
				if previous && status.RestartCount == 0 || !previous && status.State.Running == nil &&
					status.State.Terminated == nil {
					continue
				}
				if read++; read > mostLogs {
					f.problem("further pod logs of the %s cluster: these are %d already", cluster.Name, mostLogs)
					return
				}
				bounded(ctx, f, name+suffix, func(ctx context.Context) error {
					text, err := containerLog(ctx, client, pod, status.Name, previous)
					if err == nil {
						f.text(name+suffix, "end of a container's log", text)
					}
					return err
				})
			}
		}
	}
}

// ofInterest returns the pods of Flux and of providers, and those that are not ready, which come first.
func ofInterest(pods []corev1.Pod) []corev1.Pod {
	namespaces := map[string]bool{"flux-system": true, "cert-manager": true}
	for _, p := range pods {
		if _, labelled := p.Labels[providerLabel]; labelled {
			namespaces[p.Namespace] = true
		}
	}
	var ill, well []corev1.Pod
	for _, p := range pods {
		switch {
		case !ready(p) && p.Status.Phase != corev1.PodSucceeded:
			ill = append(ill, p)
		case namespaces[p.Namespace]:
			well = append(well, p)
		}
	}
	return append(ill, well...)
}

func ready(p corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func containerLog(ctx context.Context, client kubernetes.Interface, pod corev1.Pod, container string, previous bool) (
	string, error) {
	lines, bytes := int64(logLines), int64(logBytes)
	stream, err := client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{
		Container: container, Previous: previous, TailLines: &lines, LimitBytes: &bytes,
	}).Stream(ctx)
	if err != nil {
		return "", err
	}
	defer stream.Close()
	text, err := io.ReadAll(io.LimitReader(stream, bytes))
	if len(text) == int(bytes) { // it may have been cut within a secret, of which half would not be found
		text = text[:strings.LastIndexByte(string(text), '\n')+1]
	}
	return string(text), err
}
