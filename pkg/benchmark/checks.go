// Package benchmark checks a cluster against published recommendations that are about arguments of its components.
package benchmark

// Profile is a value of cluster.security_profile.
type Profile string

// The profiles that have checks.
const (
	CIS  Profile = "cis"
	STIG Profile = "stig"
)

// Name returns the published benchmark whose identifiers the checks of a profile have. Empty means that it has none.
func (p Profile) Name() string {
	return map[Profile]string{CIS: "CIS Kubernetes Benchmark v1.12", STIG: "Kubernetes STIG (DISA)"}[p]
}

// Checks returns the table of a profile, in the order of its benchmark.
func (p Profile) Checks() []Check {
	switch p {
	case CIS:
		return cis()
	case STIG:
		return stig()
	}
	return nil
}

// Component is a part of Kubernetes.
type Component string

// The components that have checks.
const (
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kubelet           Component = "kubelet"
)

// Check is one recommendation about one argument.
type Check struct {
	ID        string // in the benchmark
	Component Component
	Argument  string // without dashes
	// Want says what holds, for people.
	Want string
	// Set reports that security_profile sets the argument. Otherwise it is up to kubeadm and RKE2.
	Set   bool
	holds func(value string, given bool) bool
}

func cis() []Check {
	return []Check{
		{"1.2.3", APIServer, "enable-admission-plugins", "has DenyServiceExternalIPs", true,
			has("DenyServiceExternalIPs")},
		{"1.2.6", APIServer, "authorization-mode", "has no AlwaysAllow", false, given(without("AlwaysAllow"))},
		{"1.2.7", APIServer, "authorization-mode", "has Node", false, has("Node")},
		{"1.2.8", APIServer, "authorization-mode", "has RBAC", false, has("RBAC")},
		{"1.2.10", APIServer, "enable-admission-plugins", "has no AlwaysAdmit", true, without("AlwaysAdmit")},
		{"1.2.12", APIServer, "disable-admission-plugins", "has no ServiceAccount", true, without("ServiceAccount")},
		{"1.2.13", APIServer, "disable-admission-plugins", "has no NamespaceLifecycle", true,
			without("NamespaceLifecycle")},
		{"1.2.14", APIServer, "enable-admission-plugins", "has NodeRestriction", true, has("NodeRestriction")},
		{"1.2.15", APIServer, "profiling", "is false", true, is("false")},
		{"1.2.16", APIServer, "audit-log-path", "is set", true, isGiven},
		{"1.2.17", APIServer, "audit-log-maxage", "is 30 or more", true, atLeast(30)},
		{"1.2.18", APIServer, "audit-log-maxbackup", "is 10 or more", true, atLeast(10)},
		{"1.2.19", APIServer, "audit-log-maxsize", "is 100 or more", true, atLeast(100)},
		{"1.2.21", APIServer, "service-account-lookup", "is true or not set", true, isOrAbsent("true")},
		{"1.2.22", APIServer, "service-account-key-file", "is set", false, isGiven},
		{"1.2.23", APIServer, "etcd-certfile", "is set", false, isGiven},
		{"1.2.24", APIServer, "tls-cert-file", "is set", false, isGiven},
		{"1.2.25", APIServer, "client-ca-file", "is set", false, isGiven},
		{"1.2.26", APIServer, "etcd-cafile", "is set", false, isGiven},
		{"1.2.27", APIServer, "encryption-provider-config", "is set", true, isGiven},
		{"1.2.29", APIServer, "tls-cipher-suites", "has strong ciphers only", true, areStrong},
		{"1.2.30", APIServer, "service-account-extend-token-expiration", "is false", true, is("false")},
		{"1.3.1", ControllerManager, "terminated-pod-gc-threshold", "is set", true, isGiven},
		{"1.3.2", ControllerManager, "profiling", "is false", true, is("false")},
		{"1.3.3", ControllerManager, "use-service-account-credentials", "is true", false, is("true")},
		{"1.3.4", ControllerManager, "service-account-private-key-file", "is set", false, isGiven},
		{"1.3.5", ControllerManager, "root-ca-file", "is set", false, isGiven},
		{"1.3.7", ControllerManager, "bind-address", "is 127.0.0.1 or not set", true, isOrAbsent("127.0.0.1")},
		{"1.4.1", Scheduler, "profiling", "is false", true, is("false")},
		{"1.4.2", Scheduler, "bind-address", "is 127.0.0.1 or not set", true, isOrAbsent("127.0.0.1")},
		{"4.2.1", Kubelet, "anonymous-auth", "is false", false, is("false")},
		{"4.2.2", Kubelet, "authorization-mode", "has no AlwaysAllow", false, given(without("AlwaysAllow"))},
		{"4.2.3", Kubelet, "client-ca-file", "is set", false, isGiven},
		{"4.2.4", Kubelet, "read-only-port", "is 0 or not set", true, isOrAbsent("0")},
		{"4.2.5", Kubelet, "streaming-connection-idle-timeout", "is not 0", true, isNot("0", "0s")},
		{"4.2.10", Kubelet, "rotate-certificates", "is true or not set", true, isOrAbsent("true")},
		{"4.2.12", Kubelet, "tls-cipher-suites", "has strong ciphers only", true, areStrong},
		{"4.2.13", Kubelet, "pod-max-pids", "is 1 or more", true, atLeast(1)},
		{"4.2.14", Kubelet, "seccomp-default", "is true", true, is("true")},
	}
}
