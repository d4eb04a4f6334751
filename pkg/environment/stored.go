package environment

import "fmt"

// WorkloadObjects returns the objects, without content, in which a management cluster stores the values of a workload
// cluster.
func WorkloadObjects(namespace, cluster string) Objects {
	e := Environment{workload: true}
	e.spec.Cluster.Namespace, e.spec.Cluster.Name = namespace, cluster
	return Objects{Values: e.configMap(ValuesName, ""), Secrets: e.secret(SecretsName, nil),
		InfraSecrets: e.secret(InfraSecretsName, nil)}
}

// StoredWorkload returns the environment of a workload cluster as its stored values define it, with the chart of e. It
// says where the cluster's machines are. The values are not validated.
func (e *Environment) StoredWorkload(given Objects) (*Environment, error) {
	last, err := given.documents()
	if err != nil {
		return nil, fmt.Errorf("read the stored values of a workload cluster: %w", err)
	}
	stored := *e
	stored.workload, stored.installed, stored.reserved = true, false, ""
	stored.settle(last)
	return &stored, nil
}
