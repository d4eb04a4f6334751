package health

import (
	"testing"

	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReplacement(t *testing.T) {
	const failed = `{type: HealthCheckSucceeded, status: "False", reason: UnhealthyNode, message: "Health check failed:\n` +
		`  * Condition Ready on Node is reporting status Unknown\n  * another"}`
	const why = "Condition Ready on Node is reporting status Unknown; another"
	const asked = `{type: OwnerRemediated, status: "False", reason: WaitingForRemediation, message: Waiting for remediation}`
	for name, tc := range map[string]struct{ metadata, conditions, older, want string }{
		"healthy":   {"", `{type: HealthCheckSucceeded, status: "True", reason: x}`, "", ""},
		"unchecked": {"", "", "", ""},
		"unhealthy": {"", failed, "", "is unhealthy: " + why},
		"requested": {"", failed + ", " + asked, "", "is to be replaced: " + why},
		"held": {"", failed + `, {type: OwnerRemediated, status: "False", reason: RemediationDeferred, message: later}`, "",
			"is not replaced: later. It is unhealthy: " + why},
		"held by RKE2": {"", failed + ", " + asked,
			`{type: OwnerRemediated, status: "False", reason: WaitingForRemediation, message: not now}`,
			"is not replaced: not now. It is unhealthy: " + why},
		"before it was asked": {"", failed, `{type: OwnerRemediated, status: "True", message: not now}`,
			"is unhealthy: " + why},
		"being replaced": {`deletionTimestamp: "2026-01-01T11:59:00Z", `, failed + ", " + asked, "",
			"is being replaced: " + why},
	} {
		t.Run(name, func(t *testing.T) {
			machine := parsed(t, `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Machine, metadata: {`+tc.metadata+
				`name: m}, status: {conditions: [`+tc.conditions+`], deprecated: {v1beta1: {conditions: [`+tc.older+`]}}}}`)
			r, fails := ReplacementOf(machine)
			got := ""
			if fails {
				got = r.String()
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// A health check has no condition Ready: it is ready if it may replace machines.
func TestHealthCheck(t *testing.T) {
	for conditions, want := range map[string]string{
		"": Progressing, `{type: RemediationAllowed, status: "True", reason: x}`: Ready,
		`{type: RemediationAllowed, status: "False", reason: TooManyUnhealthy, message: too many}`: Progressing,
	} {
		check := parsed(t, `{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachineHealthCheck, metadata: {name: c}, `+
			`status: {conditions: [`+conditions+`]}}`)
		if got := Of(check); got.Status != want || OfAny(check).Status != want {
			t.Errorf("%s: %+v, %+v, want %s", conditions, got, OfAny(check), want)
		}
	}
}

func parsed(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(content); err != nil {
		t.Fatal(err)
	}
	return u
}
