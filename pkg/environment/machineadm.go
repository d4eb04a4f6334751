package environment

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/machineadm"
)

// machineadmPath is where the values enable machineadm.
const machineadmPath = "cluster.machineadm"

// Machineadm is the program that prepares machines.
type Machineadm struct {
	Enabled bool `json:"enabled"`
}

// MachineConfigs returns the configurations that machineadm reads on the machines, by the name of their file. It is
// empty if machineadm is not enabled.
func (e *Environment) MachineConfigs() (map[string][]byte, error) {
	if !e.spec.Cluster.Machineadm.Enabled {
		return nil, nil
	}
	objects, kept := e.rendered[e.lasting()]
	if !kept {
		return nil, errors.New("the environment is not rendered")
	}
	return machineConfigs(objects.objects)
}

// KubernetesFiles returns the files that machines install when they boot. None means that their image has Kubernetes.
func (e *Environment) KubernetesFiles() ([]machineadm.KubernetesFile, error) {
	configs, err := e.MachineConfigs()
	if err != nil || configs == nil {
		return nil, err
	}
	config, err := machineadm.Parse(configs["worker.yaml"])
	if err != nil || config.Kubernetes == nil {
		return nil, err
	}
	return config.Kubernetes.Files, nil
}

// machineConfigs reads them from the chart's Secret.
func machineConfigs(objects []*unstructured.Unstructured) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, object := range objects {
		if object.GetKind() != "Secret" || !strings.HasSuffix(object.GetName(), "-machineadm") {
			continue
		}
		data, _, err := unstructured.NestedStringMap(object.Object, "stringData")
		if err != nil {
			return nil, fmt.Errorf("read Secret/%s: %w", object.GetName(), err)
		}
		for _, name := range sortedKeys(data) {
			if !strings.HasSuffix(name, ".yaml") {
				continue
			}
			if all[name], err = base64.StdEncoding.DecodeString(data[name]); err != nil {
				return nil, fmt.Errorf("read %s in Secret/%s: %w", name, object.GetName(), err)
			}
		}
	}
	return all, nil
}

// checkMachineConfigs checks what the chart renders for machineadm as machineadm does.
func (e *Environment) checkMachineConfigs() error {
	all, err := e.MachineConfigs()
	if err != nil {
		return err
	}
	var problems []error
	for _, name := range sortedKeys(all) {
		_, err := machineadm.Parse(all[name])
		for _, problem := range fault.Problems(err) {
			problems = append(problems, fault.Wrap(fmt.Errorf("%s: %s: %w", machineadmPath, name, problem),
				fault.ValuesInvalid, "Correct the value that "+name+" is made of: see docs/guides/machineadm.md."))
		}
	}
	return fault.Join(problems...)
}
