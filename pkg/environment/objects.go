package environment

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/cluster-init/cluster-init/pkg/owned"
)

// bootstrapValuesName is the ConfigMap with the chart's bootstrap.values.yaml, for sources from which Flux cannot read
// it.
const bootstrapValuesName = "telco-cloud-init-bootstrap-values"

// DebugValuesName is the ConfigMap in which the chart shows its values, with debug_values.
const DebugValuesName = "telco-cloud-init-debug-values"

// Objects are an environment's values as the HelmRelease reads them, in this order.
type Objects struct {
	Values       *corev1.ConfigMap
	Secrets      *corev1.Secret
	InfraSecrets *corev1.Secret
}

// Objects returns the ConfigMap and the Secrets, ready to apply, including overrides and --set, without an unused
// login. Their text is the same for the same values.
func (e *Environment) Objects() (Objects, error) {
	values, err := yaml.Marshal(e.stored.values)
	if err != nil {
		return Objects{}, err
	}
	secrets, err := yaml.Marshal(e.stored.secrets)
	if err != nil {
		return Objects{}, err
	}
	infraSecrets, err := yaml.Marshal(e.stored.infraSecrets)
	if err != nil {
		return Objects{}, err
	}
	configMap := e.configMap(ValuesName, string(values))
	configMap.Annotations = map[string]string{owned.ShellAnnotation: e.shellRecord(),
		owned.FlagsAnnotation: e.flagRecord()}
	if e.installed {
		configMap.Annotations[owned.InstalledAnnotation] = e.SelfName()
	}
	return Objects{
		Values:       configMap,
		Secrets:      e.secret(SecretsName, secrets),
		InfraSecrets: e.secret(InfraSecretsName, infraSecrets),
	}, nil
}

// PhaseValues is the ConfigMap with the chart's own values of a phase, which the HelmRelease reads before all others.
// The management cluster has none: nil.
func (e *Environment) PhaseValues(phase Phase) *corev1.ConfigMap {
	switch phase {
	case Bootstrap:
		return e.configMap(bootstrapValuesName, string(e.phased[phase]))
	case Workload:
		return e.configMap("phase-values", string(e.phased[phase]))
	}
	return nil
}

func (e *Environment) configMap(name, text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: e.meta(name),
		Data:       map[string]string{ValuesKey: text},
	}
}

func (e *Environment) secret(name string, text []byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: e.meta(name),
		Data:       map[string][]byte{ValuesKey: text},
	}
}

func (e *Environment) meta(name string) metav1.ObjectMeta {
	namespace := Namespace
	if e.workload { // a namespace may hold several
		name, namespace = e.ClusterName()+"-"+strings.TrimPrefix(name, "management-cluster-"), e.ClusterNamespace()
	}
	return metav1.ObjectMeta{Name: name, Namespace: namespace,
		Labels: map[string]string{owned.ClusterLabel: e.ClusterName()}}
}
