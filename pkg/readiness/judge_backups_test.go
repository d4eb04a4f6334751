package readiness

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// backupCron is the CronJob of the component backup, with more of its spec and its status.
func backupCron(spec, status string) string {
	return `[{apiVersion: batch/v1, kind: CronJob, metadata: {namespace: default, name: cluster-init-backup, labels: ` +
		`{cluster-init.io/backup: demo}, creationTimestamp: "2025-12-01T00:00:00Z"}, spec: {` + spec +
		`schedule: "17 3 * * *", jobTemplate: {spec: {activeDeadlineSeconds: 1800}}}, status: {` + status + `}}]`
}

// backupJob is a Job of it that failed, and that was made at an hour of the day.
func backupJob(name, hour, conditions string) string {
	return `[{apiVersion: batch/v1, kind: Job, metadata: {namespace: default, name: ` + name + `, creationTimestamp: ` +
		`"2026-01-01T` + hour + `:17:00Z", ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: ` +
		`cluster-init-backup}]}, status: {conditions: [` + conditions + `]}}]`
}

// backupPod is a Pod of a Job, which ended with that code and that log.
func backupPod(t *testing.T, name, job, hour, code, log string) string {
	t.Helper()
	message, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	return `[{apiVersion: v1, kind: Pod, metadata: {namespace: default, name: ` + name + `, creationTimestamp: ` +
		`"2026-01-01T` + hour + `:17:00Z", labels: {batch.kubernetes.io/job-name: ` + job + `}}, status: {phase: Failed, ` +
		`containerStatuses: [{name: backup, state: {terminated: {exitCode: ` + code + `, message: ` + string(message) +
		`}}}]}}]`
}

const (
	failedToday = overdue + "|due at 2026-01-01T03:17:00Z|the last one was made at 2025-12-31T03:18:00Z"
	lastToday   = "the last one was made at 2026-01-01T03:18:00Z"
	dueToday    = `lastScheduleTime: "2026-01-01T03:17:00Z", `
	dueNow      = `lastScheduleTime: "2026-01-01T11:59:00Z", `
	dueEarlier  = `lastScheduleTime: "2026-01-01T11:19:00Z", ` // 41 minutes before noon
	// 35 minutes before noon: a Job may run for 30.
	dueHalfAnHour = `lastScheduleTime: "2026-01-01T11:25:00Z", `
	madeToday     = `lastSuccessfulTime: "2026-01-01T03:18:00Z", `
	madeAtOnce    = `lastSuccessfulTime: "2026-01-01T03:17:00Z", `
	madeLastDay   = `lastSuccessfulTime: "2025-12-31T03:18:00Z", `
	itIsRunning   = `active: [{kind: Job, name: x}]`
	overdue       = "backup-overdue CronJob/default/cluster-init-backup"
	suspendedJob  = "backup-suspended CronJob/default/cluster-init-backup"
)

func TestBackupsThatAreNotMade(t *testing.T) {
	for name, tc := range map[string]struct {
		cron string
		want string // the finding, and parts of its cause, with | between them
	}{
		"not due so far":           {backupCron("", ""), ""},
		"made":                     {backupCron("", dueToday+madeToday), ""},
		"made in the same second":  {backupCron("", dueToday+madeAtOnce), ""},
		"under way":                {backupCron("", dueNow+madeToday+itIsRunning), ""},
		"the first is under way":   {backupCron("", dueNow+itIsRunning), ""},
		"failed":                   {backupCron("", dueToday+madeLastDay), failedToday},
		"the first failed":         {backupCron("", dueToday), overdue + "|none was made so far"},
		"failed just now":          {backupCron("", dueNow+madeToday), overdue},
		"takes too long":           {backupCron("", dueEarlier+madeToday+itIsRunning), overdue},
		"takes its time":           {backupCron("", dueHalfAnHour+madeToday+itIsRunning), ""},
		"suspended":                {backupCron("suspend: true, ", dueToday+madeToday), suspendedJob + "|" + lastToday},
		"suspended from the start": {backupCron("suspend: true, ", ""), suspendedJob + "|none was made so far"},
		"being deleted": {strings.Replace(backupCron("", dueToday), "creationTimestamp",
			`deletionTimestamp: "2026-01-01T11:59:59Z", creationTimestamp`, 1), ""},
		"of another owner": {strings.Replace(backupCron("", dueToday), "cluster-init.io/backup", "example.org/backup",
			1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy(t)
			o.add(t, tc.cron)
			found := Judge(o)
			if tc.want == "" {
				if len(found) > 0 {
					t.Errorf("%+v", found)
				}
				return
			}
			want := strings.Split(tc.want, "|")
			if len(found) != 1 || found[0].ID+" "+found[0].Object.String() != want[0] || found[0].Severity != Warning ||
				!found[0].Certain || found[0].Transient || found[0].Remedy == "" {
				t.Fatalf("%+v, want %s", found, want[0])
			}
			for _, part := range want[1:] {
				if !strings.Contains(found[0].Cause, part) {
					t.Errorf("%s, want %q", found[0].Cause, part)
				}
			}
		})
	}
}

// How long a backup runs is known by the API server's clock only.
func TestALateBackupWithoutTheServersTime(t *testing.T) {
	for status, certain := range map[string]bool{dueEarlier + itIsRunning: false, dueEarlier: true} {
		o := healthy(t)
		o.add(t, backupCron("", status))
		o.At = time.Time{}
		if found := Judge(o); len(found) != 1 || found[0].Certain != certain {
			t.Errorf("%s: %+v", status, found)
		}
	}
}

// The finding says what the last Pod of the last Job said.
func TestWhyABackupFailed(t *testing.T) {
	const backoff = `{type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the limit}`
	failed := func(message string) string {
		return `{"type":"run-started","command":"backup"}` + "\n" +
			`{"type":"run-finished","failure":{"code":"x","message":"` + message + `","hint":"y"}}` + "\n"
	}
	old, last := backupJob("old", "02", backoff), backupJob("last", "03", backoff)
	event := `[{apiVersion: v1, kind: Event, involvedObject: {kind: Job, namespace: default, name: last}, reason: ` +
		`FailedCreate, message: it violates PodSecurity, lastTimestamp: "2026-01-01T11:59:00Z"}]`
	for name, tc := range map[string]struct {
		objects []string
		events  string
		unknown bool
		want    string
		log     string // in the remedy
	}{
		"nothing is known": {want: "", log: "describe cronjob cluster-init-backup"},
		"the last of two": {objects: []string{last, old, backupPod(t, "a", "last", "03", "32", failed("no route")),
			backupPod(t, "b", "old", "04", "2", failed("old"))},
			want: "Pod a ended with exit code 32: no route", log: "logs job/last"},
		"the last attempt": {objects: []string{last, backupPod(t, "a", "last", "03", "1", failed("first")),
			backupPod(t, "b", "last", "04", "32", failed("second"))},
			want: "Pod b ended with exit code 32: second", log: "logs job/last"},
		"left out": {objects: []string{last, backupPod(t, "a", "last", "03", "66", `:"e3b0","objects/b.yaml":"e3b0"}}`)},
			want: "Pod a ended with exit code 66: the backup leaves something out", log: "logs job/last"},
		"not pruned": {objects: []string{last, backupPod(t, "a", "last", "03", "67", "")},
			want: "Pod a ended with exit code 67: the backup was written, and older ones could not be removed",
			log:  "logs job/last"},
		"no log": {objects: []string{last, backupPod(t, "a", "last", "03", "137", "killed")},
			want: "Pod a ended with exit code 137", log: "logs job/last"},
		"no Pod": {objects: []string{last}, want: "Job has reached the limit", log: "logs job/last"},
		"no Pod could be made": {objects: []string{last}, events: event,
			want: "Job has reached the limit; FailedCreate: it violates PodSecurity", log: "logs job/last"},
		"of another CronJob": {objects: []string{strings.Replace(last, "name: cluster-init-backup", "name: other", 1)},
			want: "", log: "describe cronjob cluster-init-backup"},
		"in another namespace": {objects: []string{strings.Replace(last, "namespace: default", "namespace: other", 1)},
			want: "", log: "describe cronjob cluster-init-backup"},
	} {
		t.Run(name, func(t *testing.T) {
			o := healthy(t)
			o.add(t, backupCron("", dueToday))
			for _, objects := range tc.objects {
				o.add(t, objects)
			}
			if tc.events != "" {
				o.Events = objectsOf(t, tc.events)
			}
			found := judgeBackups(newView(o))
			_, why, _ := strings.Cut(found[0].Cause, "and none was made so far")
			if len(found) != 1 || strings.TrimPrefix(why, ": ") != tc.want ||
				!strings.Contains(found[0].Remedy, "kubectl -n default "+tc.log+". ") {
				t.Errorf("%+v, want %q and %q", found, tc.want, tc.log)
			}
		})
	}
}

// Objects that could not be read give no warning: their state is not known.
func TestUnknownBackups(t *testing.T) {
	o := healthy(t)
	unknown("batch", "CronJob")(t, &o)
	if found := Judge(o); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	broken := objectsOf(t, backupCron("", dueToday))[0]
	for _, field := range []string{"lastScheduleTime", "active"} {
		if err := unstructured.SetNestedField(broken.Object, int64(7), "status", field); err != nil {
			t.Fatal(err)
		}
	}
	o.Objects = append(o.Objects, broken)
	if found := Judge(o); len(found) > 0 {
		t.Errorf("%+v", found)
	}
}
