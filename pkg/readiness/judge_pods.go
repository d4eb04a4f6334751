package readiness

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
)

// judgePods finds Pods of installed components that wait for a node or crash repeatedly, also next to others that run.
func judgePods(v *view) []Finding {
	var found []Finding
	for _, pod := range v.list("", "Pod") {
		if !v.installed[pod.GetNamespace()] || pod.GetDeletionTimestamp() != nil ||
			text(pod, "status", "phase") == "Succeeded" {
			continue
		}
		r := health.RefOf(pod)
		describe := fmt.Sprintf("Check why: kubectl -n %s describe pod %s", r.Namespace, r.Name)
		if scheduled := health.ConditionOf(pod, "PodScheduled"); scheduled.Status == "False" &&
			v.age(pod.GetCreationTimestamp().Time) > startTime {
			found = append(found, Finding{ID: "pod-pending", Object: r, Severity: Warning, Certain: true,
				Transient: true, Message: scheduled.Message,
				Cause: fmt.Sprintf("%s has no node for %s", r, v.age(pod.GetCreationTimestamp().Time).Round(
					time.Second)), Remedy: describe})
		} else if text(pod, "spec", "nodeName") == "" && v.age(pod.GetCreationTimestamp().Time) > startTime {
			found = append(found, Finding{ID: "pod-pending", Object: r, Severity: Warning, Certain: true,
				Message: "no scheduler has said anything about it",
				Cause: fmt.Sprintf("%s has no node for %s", r, v.age(pod.GetCreationTimestamp().Time).Round(
					time.Second)), Remedy: "Check that kube-scheduler runs. " + describe})
		}
		if why, again := crashing(v, pod); again {
			found = append(found, Finding{ID: "pod-crashing", Object: r, Severity: Warning, Certain: true,
				Transient: true, Cause: fmt.Sprintf("%s crashes repeatedly", r), Message: why,
				Remedy: fmt.Sprintf("Check its last log: kubectl -n %s logs %s --previous --all-containers",
					r.Namespace, r.Name)})
		}
	}
	return found
}

// crashing reports whether a container of a Pod has ended more than twice, the last time recently.
func crashing(v *view, pod *unstructured.Unstructured) (string, bool) {
	const often = 3
	for _, field := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, c := range maps(pod, "status", field) {
			count, _, _ := unstructured.NestedInt64(c, "restartCount")
			ended, _, _ := unstructured.NestedString(c, "lastState", "terminated", "finishedAt")
			code, _, _ := unstructured.NestedInt64(c, "lastState", "terminated", "exitCode")
			if at := moment(ended); count >= often && !at.IsZero() && v.age(at) < restTime {
				return fmt.Sprintf("container %v was started %d times, and ended last with exit code %d %s ago; %s",
					c["name"], count+1, code, v.age(at).Round(time.Second), containerState(pod)), true
			}
		}
	}
	return "", false
}
