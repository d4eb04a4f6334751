package benchmark

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Arguments are the arguments of components by name, without dashes.
type Arguments map[Component]map[string]string

// add adds an argument of a component. The last one counts, as for the component.
func (a Arguments) add(c Component, name, value string) {
	if a[c] == nil {
		a[c] = map[string]string{}
	}
	a[c][strings.TrimLeft(name, "-")] = value
}

// addFlag adds NAME=VALUE; without a value it is true.
func (a Arguments) addFlag(c Component, flag string) {
	name, value, given := strings.Cut(flag, "=")
	if !given {
		value = "true"
	}
	a.add(c, name, value)
}

// OfPods returns the arguments of the control plane's components in their static Pods, by the name of the Pod.
func OfPods(pods []*unstructured.Unstructured) map[string]Arguments {
	all := map[string]Arguments{}
	for _, pod := range pods {
		component := Component(pod.GetLabels()["component"])
		if pod.GetLabels()["tier"] != "control-plane" || !hasChecks(component) {
			continue
		}
		found := Arguments{component: {}}
		containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
		for _, item := range containers {
			container, _ := item.(map[string]any)
			for _, field := range []string{"command", "args"} {
				words, _, _ := unstructured.NestedStringSlice(container, field)
				for _, word := range words {
					if strings.HasPrefix(word, "--") {
						found.addFlag(component, word)
					}
				}
			}
		}
		all[pod.GetName()] = found
	}
	return all
}

func hasChecks(c Component) bool { return c == APIServer || c == ControllerManager || c == Scheduler }

// list is where the definition of a control plane has the arguments of a component.
type list struct {
	component Component
	path      []string
}

// lists are those of each kind of control plane.
var lists = map[string][]list{
	"KubeadmControlPlane": {
		{APIServer, []string{"spec", "kubeadmConfigSpec", "clusterConfiguration", "apiServer", "extraArgs"}},
		{ControllerManager, []string{"spec", "kubeadmConfigSpec", "clusterConfiguration", "controllerManager",
			"extraArgs"}},
		{Scheduler, []string{"spec", "kubeadmConfigSpec", "clusterConfiguration", "scheduler", "extraArgs"}},
		{Kubelet, []string{"spec", "kubeadmConfigSpec", "joinConfiguration", "nodeRegistration", "kubeletExtraArgs"}},
	},
	"RKE2ControlPlane": {
		{APIServer, []string{"spec", "serverConfig", "kubeAPIServer", "extraArgs"}},
		{ControllerManager, []string{"spec", "serverConfig", "kubeControllerManager", "extraArgs"}},
		{Scheduler, []string{"spec", "serverConfig", "kubeScheduler", "extraArgs"}},
		{Kubelet, []string{"spec", "agentConfig", "kubelet", "extraArgs"}},
	},
}

// OfDefinition returns the arguments that a control plane's definition gives. Those that kubeadm and RKE2 add are
// missing. known reports that o is a control plane.
func OfDefinition(o *unstructured.Unstructured) (arguments Arguments, known bool) {
	of, known := lists[o.GetKind()]
	arguments = Arguments{}
	for _, l := range of {
		arguments[l.component] = map[string]string{}
		items, _, _ := unstructured.NestedSlice(o.Object, l.path...)
		for _, item := range items {
			switch typed := item.(type) {
			case string:
				arguments.addFlag(l.component, typed)
			case map[string]any:
				arguments.add(l.component, fmt.Sprint(typed["name"]), fmt.Sprint(typed["value"]))
			}
		}
	}
	return arguments, known
}

// kubeletFields are the fields of a KubeletConfiguration that stand for its arguments.
var kubeletFields = map[string][]string{
	"anonymous-auth":                    {"authentication", "anonymous", "enabled"},
	"authorization-mode":                {"authorization", "mode"},
	"client-ca-file":                    {"authentication", "x509", "clientCAFile"},
	"read-only-port":                    {"readOnlyPort"},
	"streaming-connection-idle-timeout": {"streamingConnectionIdleTimeout"},
	"rotate-certificates":               {"rotateCertificates"},
	"tls-cipher-suites":                 {"tlsCipherSuites"},
	"pod-max-pids":                      {"podPidsLimit"},
	"protect-kernel-defaults":           {"protectKernelDefaults"},
}

// OfKubelet returns the arguments of kubelet that its configuration comes to.
func OfKubelet(configuration map[string]any) Arguments {
	found := Arguments{Kubelet: {}}
	for argument, field := range kubeletFields {
		value, given, err := unstructured.NestedFieldNoCopy(configuration, field...)
		if !given || err != nil {
			continue
		}
		if several, is := value.([]any); is {
			var texts []string
			for _, each := range several {
				texts = append(texts, fmt.Sprint(each))
			}
			value = strings.Join(texts, ",")
		}
		found.add(Kubelet, argument, fmt.Sprint(value))
	}
	return found
}
