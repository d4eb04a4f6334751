package health

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Condition is one condition of an object. A condition that is not there has Status Unknown and Reason NotReported.
type Condition struct {
	Type    string
	Status  corev1.ConditionStatus
	Reason  string
	Message string
	Current bool // false while the controller has not yet seen the latest spec
}

// NotReported is the Reason of a condition that the object does not carry.
const NotReported = "NotReported"

// True reports whether the condition holds for the latest spec.
func (c Condition) True() bool { return c.Status == corev1.ConditionTrue && c.Current }

// String says what is known of the condition when it is not true, for people.
func (c Condition) String() string {
	switch {
	case c.Reason == NotReported:
		return "no " + c.Type + " condition yet"
	case !c.Current:
		return c.Type + " is about an older version of the spec"
	case c.Message != "":
		return c.Type + "=" + string(c.Status) + ": " + c.Message
	}
	return c.Type + "=" + string(c.Status) + ": " + c.Reason
}

// ConditionOf returns the condition of the given type from status.conditions. Without one, its Reason is NotReported.
func ConditionOf(u *unstructured.Unstructured, conditionType string) Condition {
	for _, c := range Conditions(u) {
		if c.Type == conditionType {
			return c
		}
	}
	return notReported(conditionType)
}

func notReported(conditionType string) Condition {
	return Condition{Type: conditionType, Status: corev1.ConditionUnknown, Reason: NotReported, Current: true}
}

// Conditions reads status.conditions. A condition is current unless its observedGeneration is behind the object's
// generation. If it has none, or 0, that of the status counts; without either it is current.
func Conditions(u *unstructured.Unstructured) []Condition {
	list, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	statusSeen, hasStatusSeen, _ := unstructured.NestedInt64(u.Object, "status", "observedGeneration")
	var found []Condition
	for _, each := range list {
		m, isMap := each.(map[string]any)
		if !isMap {
			continue
		}
		text := func(key string) string { s, _ := m[key].(string); return s }
		c := Condition{
			Type: text("type"), Status: corev1.ConditionStatus(text("status")),
			Reason: text("reason"), Message: text("message"), Current: true,
		}
		if seen, ok := m["observedGeneration"].(int64); ok && seen > 0 {
			c.Current = seen >= u.GetGeneration()
		} else if hasStatusSeen {
			c.Current = statusSeen >= u.GetGeneration()
		}
		found = append(found, c)
	}
	return found
}

// ConditionFrom is ConditionOf for conditions of a typed object of the given generation. Generation 0 makes all of them
// current.
func ConditionFrom(conditions []metav1.Condition, conditionType string, generation int64) Condition {
	i := slices.IndexFunc(conditions, func(c metav1.Condition) bool { return c.Type == conditionType })
	if i < 0 {
		return notReported(conditionType)
	}
	c := conditions[i]
	return Condition{
		Type: conditionType, Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
		Current: c.ObservedGeneration == 0 || c.ObservedGeneration >= generation,
	}
}
