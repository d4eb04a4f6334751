package environment_test

import (
	"slices"
	"strings"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestRefusedBackupsOnASchedule(t *testing.T) {
	const secret = "AGE-SECRET-KEY-1HUNTER2"
	with := func(key string, value any) map[string]any { return map[string]any{key: value} }
	to := func(recipients ...any) map[string]any { return with("recipients", recipients) }
	volume := func(kinds map[string]any) map[string]any { return with("volume", kinds) }
	none := map[string]any{}
	for name, tc := range map[string]struct {
		more map[string]any
		want string // in the message; several parts have | between them
	}{
		"no image":        {with("image", ""), "cluster.backup.image is empty"},
		"no tag":          {with("image", "host:5000/cluster-init"), "not an image with a tag"},
		"a space":         {with("image", "host/a b:v1"), "not an image with a tag"},
		"no recipient":    {to(), "cluster.backup.recipients is empty"},
		"a private key":   {to(agePublic, secret), "cluster.backup.recipients[1] is a private key"},
		"in lower case":   {to(strings.ToLower(secret)), "recipients[0] is a private key"},
		"with a space":    {to(" " + secret), "recipients[0] is a private key"},
		"one of ssh":      {to("-----BEGIN OPENSSH PRIVATE KEY-----\nHUNTER2"), "recipients[0] is a private key"},
		"a file":          {to("HUNTER2.pub"), "cluster.backup.recipients[0] is not a public key"},
		"two in one":      {to(agePublic + " HUNTER2"), "is not a public key"},
		"a flag":          {to("--HUNTER2"), "is not a public key"},
		"no volume":       {volume(none), "cluster.backup.volume is empty"},
		"emptyDir":        {volume(with("emptyDir", none)), "is of kind emptyDir: the backups would be deleted"},
		"ephemeral":       {volume(with("ephemeral", none)), "is of kind ephemeral: the backups would be deleted"},
		"a ConfigMap":     {volume(with("configMap", with("name", "x"))), "of kind configMap, which is not one of csi,"},
		"two kinds":       {volume(map[string]any{"nfs": with("server", "x"), "csi": none}), "volume has csi and nfs"},
		"a name":          {volume(map[string]any{"nfs": with("server", "x"), "name": "x"}), "volume has name and nfs"},
		"no fields":       {volume(with("nfs", "x")), "cluster.backup.volume.nfs is not a map with fields"},
		"an empty volume": {volume(with("nfs", none)), "cluster.backup.volume.nfs is not a map with fields"},
		"read-only":       {volume(with("nfs", with("readOnly", true))), "cluster.backup.volume.nfs.readOnly is true"},
		"no schedule":     {with("schedule", ""), `cluster.backup.schedule is "", which has not five fields`},
		"four fields":     {with("schedule", "17 3 * *"), "which has not five fields"},
		"six fields":      {with("schedule", "0 17 3 * * *"), "which has not five fields"},
		"a time zone":     {with("schedule", "TZ=UTC 17 3 * * *"), "which has not five fields"},
		"a macro":         {with("schedule", "@daily"), "which has not five fields"},
		"minute 60":       {with("schedule", "60 3 * * *"), `"60" is not a valid minute`},
		"hour 24":         {with("schedule", "17 24 * * *"), `"24" is not a valid hour`},
		"day 0":           {with("schedule", "17 3 0 * *"), `"0" is not a valid day of the month`},
		"month 13":        {with("schedule", "17 3 * 13 *"), `"13" is not a valid month`},
		"Sunday as 7":     {with("schedule", "17 3 * * 7"), `"7" is not a valid day of the week`},
		"step 0":          {with("schedule", "*/0 3 * * *"), `"*/0" is not a valid minute`},
		"keep 0":          {with("keep", 0), "/cluster/backup/keep"},
		"several": {map[string]any{"image": "", "schedule": "", "recipients": []any{}, "volume": none},
			"image is empty|recipients is empty|volume is empty|not five fields"},
	} {
		t.Run(name, func(t *testing.T) { refusesScheduled(t, tc.more, "", tc.want) })
	}
	for _, other := range []string{"bootstrap-only", "workload-only"} {
		refusesScheduled(t, nil, "components.backup.enabled="+other, "components.backup.enabled is "+other)
	}
}

// refusesScheduled sees that backups on a schedule are refused, and that no message repeats a key.
func refusesScheduled(t *testing.T, more map[string]any, set, wanted string) {
	t.Helper()
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Variables: variables(allVariables()), Sets: slices.DeleteFunc([]string{set}, func(s string) bool { return s == "" }),
		ValuesFiles: []string{valuesFile(t, scheduled(more))}})
	if fault.CodeOf(err) != fault.ValuesInvalid || fault.HintOf(err) == "" {
		t.Fatalf("error %v with code %q and hint %q", err, fault.CodeOf(err), fault.HintOf(err))
	}
	for want := range strings.SplitSeq(wanted, "|") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if said := err.Error() + fault.HintOf(err); strings.Contains(strings.ToUpper(said), "HUNTER2") {
		t.Errorf("it repeats a recipient: %s", said)
	}
}
