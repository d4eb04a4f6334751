package benchmark

// stig are the rules of DISA's Kubernetes STIG about arguments.
func stig() []Check {
	const tls12 = "is VersionTLS12 or VersionTLS13"
	isTLS12 := is("VersionTLS12", "VersionTLS13")
	return []Check{
		{"CNTR-K8-000150", ControllerManager, "tls-min-version", tls12, true, isTLS12},
		{"CNTR-K8-000160", Scheduler, "tls-min-version", tls12, true, isTLS12},
		{"CNTR-K8-000170", APIServer, "tls-min-version", tls12, true, isTLS12},
		{"CNTR-K8-000220", ControllerManager, "use-service-account-credentials", "is true", false, is("true")},
		{"CNTR-K8-000270", APIServer, "authorization-mode", "is Node,RBAC", false, is("Node,RBAC")},
		{"CNTR-K8-000300", Scheduler, "bind-address", "is 127.0.0.1 or not set", true, isOrAbsent("127.0.0.1")},
		{"CNTR-K8-000310", ControllerManager, "bind-address", "is 127.0.0.1 or not set", true, isOrAbsent("127.0.0.1")},
		{"CNTR-K8-000330", Kubelet, "read-only-port", "is 0 or not set", true, isOrAbsent("0")},
		{"CNTR-K8-000370", Kubelet, "anonymous-auth", "is false", false, is("false")},
		{"CNTR-K8-000380", Kubelet, "authorization-mode", "is Webhook", false, is("Webhook")},
		{"CNTR-K8-000600", APIServer, "audit-policy-file", "is set", true, isGiven},
		{"CNTR-K8-000610", APIServer, "audit-log-path", "is set", true, isGiven},
		{"CNTR-K8-000910", ControllerManager, "profiling", "is false", true, is("false")},
		{"CNTR-K8-001300", Kubelet, "streaming-connection-idle-timeout", "is not 0", true, isNot("0", "0s")},
		{"CNTR-K8-001400", APIServer, "tls-cipher-suites", "has strong ciphers only", true, areStrong},
		{"CNTR-K8-001410", APIServer, "client-ca-file", "is set", false, isGiven},
		{"CNTR-K8-001420", Kubelet, "client-ca-file", "is set", false, isGiven},
		{"CNTR-K8-001430", ControllerManager, "root-ca-file", "is set", false, isGiven},
		{"CNTR-K8-001440", APIServer, "tls-cert-file", "is set", false, isGiven},
		{"CNTR-K8-001510", APIServer, "etcd-cafile", "is set", false, isGiven},
		{"CNTR-K8-001520", APIServer, "etcd-certfile", "is set", false, isGiven},
		{"CNTR-K8-001530", APIServer, "etcd-keyfile", "is set", false, isGiven},
		{"CNTR-K8-001620", Kubelet, "protect-kernel-defaults", "is true", true, is("true")},
		{"CNTR-K8-002000", APIServer, "disable-admission-plugins", "has no ValidatingAdmissionWebhook", true,
			without("ValidatingAdmissionWebhook")},
		{"CNTR-K8-002600", APIServer, "request-timeout", "is not 0", true, isNot("0", "0s")},
		{"CNTR-K8-002630", APIServer, "token-auth-file", "is not set", true, isAbsent},
		{"CNTR-K8-003290", APIServer, "audit-log-maxsize", "is 100 or more", true, atLeast(100)},
		{"CNTR-K8-003300", APIServer, "audit-log-maxbackup", "is 10 or more", true, atLeast(10)},
		{"CNTR-K8-003310", APIServer, "audit-log-maxage", "is 30 or more", true, atLeast(30)},
	}
}
