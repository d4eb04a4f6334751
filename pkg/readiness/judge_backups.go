package readiness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/health"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

// backupGrace is how much longer than its Job may run a backup may take: Kubernetes starts it and notes its end.
const backupGrace = 10 * time.Minute

// judgeBackups finds backups on a schedule that are not made: the last one that was due did not succeed, or none is
// due. All are warnings: nothing waits for a backup.
func judgeBackups(v *view) []Finding {
	var found []Finding
	for _, cron := range v.list("batch", "CronJob") {
		if cron.GetLabels()[owned.BackupLabel] == "" || cron.GetDeletionTimestamp() != nil {
			continue
		}
		if suspended, _, _ := unstructured.NestedBool(cron.Object, "spec", "suspend"); suspended {
			found = append(found, Finding{ID: "backup-suspended", Object: health.RefOf(cron), Severity: Warning,
				Certain: true,
				Cause: fmt.Sprintf("no backups are made: CronJob %s is suspended, and %s", cron.GetName(),
					lastBackup(cron)),
				Remedy: fmt.Sprintf(`Resume it: kubectl -n %s patch cronjob %s -p '{"spec":{"suspend":false}}'`,
					cron.GetNamespace(), cron.GetName())})
			continue
		}
		if f, overdue := v.overdueBackup(cron); overdue {
			found = append(found, f)
		}
	}
	return found
}

// overdueBackup reports that the last backup that was due did not succeed: it has ended, or takes too long.
func (v *view) overdueBackup(cron *unstructured.Unstructured) (Finding, bool) {
	due := moment(text(cron, "status", "lastScheduleTime"))
	running := len(maps(cron, "status", "active")) > 0 // Kubernetes sets it together with the times
	bound := time.Duration(number(cron, 0, "spec", "jobTemplate", "spec", "activeDeadlineSeconds")) * time.Second
	// Nothing is before a time that is not known: none was due so far.
	if !moment(text(cron, "status", "lastSuccessfulTime")).Before(due) ||
		running && v.age(due) <= bound+backupGrace {
		return Finding{}, false
	}
	f := Finding{ID: "backup-overdue", Object: health.RefOf(cron), Severity: Warning,
		Certain: !running || !v.At.IsZero(), // the state is known, and an age is not
		Cause: fmt.Sprintf("the backup that was due at %s did not succeed, and %s",
			due.UTC().Format(time.RFC3339), lastBackup(cron))}
	log := "describe cronjob " + cron.GetName()
	if job := v.newestJob(cron); job != nil {
		log = "logs job/" + job.GetName()
		if why := v.whyJobFailed(job); why != "" { // in the cause, as `status` prints no messages
			f.Cause += ": " + why
		}
	}
	f.Remedy = fmt.Sprintf("Check why: kubectl -n %s %s. To make one now: kubectl -n %s create job backup-now "+
		"--from=cronjob/%s", cron.GetNamespace(), log, cron.GetNamespace(), cron.GetName())
	return f, true
}

// lastBackup describes the last backup that succeeded.
func lastBackup(cron *unstructured.Unstructured) string {
	at := moment(text(cron, "status", "lastSuccessfulTime"))
	if at.IsZero() {
		return "none was made so far"
	}
	return "the last one was made at " + at.UTC().Format(time.RFC3339)
}

// newestJob returns the newest Job of a CronJob; nil if none is known.
func (v *view) newestJob(cron *unstructured.Unstructured) *unstructured.Unstructured {
	var newest *unstructured.Unstructured
	for _, job := range v.list("batch", "Job") {
		owns := slices.ContainsFunc(maps(job, "metadata", "ownerReferences"), func(owner map[string]any) bool {
			return owner["kind"] == "CronJob" && owner["name"] == cron.GetName()
		})
		if owns && job.GetNamespace() == cron.GetNamespace() &&
			(newest == nil || newest.GetCreationTimestamp().Time.Before(job.GetCreationTimestamp().Time)) {
			newest = job
		}
	}
	return newest
}

// whyJobFailed returns the error of the last Pod of a Job. Without one it is the Job's own condition and event.
func (v *view) whyJobFailed(job *unstructured.Unstructured) string {
	pods := v.selected(job.GetNamespace(), map[string]string{"batch.kubernetes.io/job-name": job.GetName()})
	slices.SortStableFunc(pods, func(a, b *unstructured.Unstructured) int {
		return b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time)
	})
	for _, pod := range pods {
		for _, status := range maps(pod, "status", "containerStatuses") {
			container := &unstructured.Unstructured{Object: status}
			if code := number(container, 0, "state", "terminated", "exitCode"); code != 0 {
				return fmt.Sprintf("Pod %s ended with exit code %d%s", pod.GetName(), code,
					whyBackupFailed(code, text(container, "state", "terminated", "message")))
			}
		}
	}
	failed := health.ConditionOf(job, "Failed")
	return joined(cmp.Or(failed.Message, failed.Reason), v.warning(health.RefOf(job)))
}

// whyBackupFailed returns the error of a backup from the end of its log, which has JSON in each line. A line may be
// truncated, and that of an incomplete backup does not leave room for another one.
func whyBackupFailed(code int64, log string) string {
	for _, line := range slices.Backward(strings.Split(log, "\n")) {
		var event struct {
			Failure struct {
				Message string `json:"message"`
			} `json:"failure"`
		}
		if json.Unmarshal([]byte(line), &event) == nil && event.Failure.Message != "" {
			return ": " + event.Failure.Message
		}
	}
	switch code { // as in docs/reference/exit-codes.md
	case 66:
		return ": the backup leaves something out"
	case 67:
		return ": the backup was written, and older ones could not be removed"
	}
	return ""
}
