package pkg_test

// rule says what a package may import of the house, and why.
type rule struct {
	imports []string
	reason  string
}

// floors are the house from the ground up, each package by the first part of its path. What is on a floor imports what
// is below it, and of its own floor what arrows says. pkg/internal is beside the house: tests of all floors use it.
var floors = [][]string{
	// ground: values, and words for them
	{"fault", "redact", "health", "owned", "event", "oneline", "output", "redirect", "suggest", "unpack",
		"wholefile", "machineadm"},
	// adapters: one outside system each
	{"kube", "docker", "kind", "kustomize", "flux", "capi", "oci", "openstack", "aws", "helm", "etcd", "ssh"},
	// parts: what a run is made of
	{"environment", "source", "bundle", "registry", "provider", "pipeline", "rollout", "bootstrap", "render", "lease",
		"lock", "parts", "backup", "runs", "timeline", "trace", "manifests", "sylva", "readiness", "definitions", "clusters",
		"vm", "benchmark"},
	// verbs: what a user asks for
	{"up", "down", "pivot", "restore", "cleanup", "evidence", "diagnose", "status", "drift", "workload",
		"install"},
	// wiring
	{"cli"},
}

// arrows has a line for each package. A package that is not listed may import nothing: a new one gets a line here, and
// a reason. "root" is the package at the root, which embeds the content. No line may name e2e: it stands on the house,
// and not the house on it.
var arrows = map[string]rule{
	// ground
	"fault": {nil, "every package may have errors with codes, so it stands on nothing"},
	"redact": {[]string{"root", "unpack"}, "what is a secret, and how it is written, does not depend on who asks; " +
		"one that is spelled like a word of the content is told from it"},
	"health": {nil, "the state of an object is read from the object alone"},
	"owned":  {nil, "what is ours is a matter of names alone, and everybody must agree on them"},
	"event":  {nil, "events are plain values that the core emits and views read"},
	"oneline": {nil, "text of others is made fit for a terminal and for the log of a CI job in one way, whoever " +
		"prints it"},

	"output":    {nil, "what a program writes is kept within bounds in one way, whoever runs it"},
	"redirect":  {nil, "one way keeps credentials at their host"},
	"unpack":    {nil, "one way reads archives and YAML of others within bounds"},
	"wholefile": {nil, "a file that is read while it is written is written in one way, whoever writes it"},
	"suggest":   {nil, "what somebody meant who typed a name that is none is read from the names that there are"},

	"machineadm": {[]string{"fault", "oneline", "output", "unpack", "wholefile"}, "it runs on machines: of the house it has " +
		"only ground that needs no client; its configuration is checked in one way, here and there"},

	// adapters: one outside system each
	"kube": {[]string{"fault", "health", "oneline", "unpack"}, "an adapter to one API server knows " +
		"nothing of runs; whether a definition is served is read as every condition is"},
	"docker": {[]string{"fault", "output"}, "an adapter to the Docker engine knows nothing of runs"},
	"kind": {[]string{"fault", "kube"}, "an adapter to kind knows nothing of runs; the kubeconfig in " +
		"a node is checked where it is read"},
	"kustomize": {[]string{"fault", "unpack"},
		"an adapter to kustomize, which gets local files only: whoever builds a folder asks here"},
	"flux": {[]string{"kube", "kustomize"}, "an adapter to Flux, which is reached through an API " +
		"server; what it builds is built here without it"},
	"capi": {[]string{"health", "kube"}, "an adapter to Cluster API, which is reached through an API " +
		"server; the kubeconfig in a Secret is checked where it is read"},
	"helm": {nil, "an adapter to Helm's engine knows nothing of environments"},
	"etcd": {nil, "an adapter to etcd knows nothing of how it is reached"},
	"ssh":  {[]string{"fault", "output"}, "an adapter to the OpenSSH client knows nothing of machines or runs"},
	"aws": {[]string{"fault"},
		"an adapter to AWS knows nothing of environments or runs"},
	"aws/preflight": {[]string{"aws", "fault"}, "it compares what a cluster needs with what the account has"},
	"openstack": {[]string{"fault", "redirect"},
		"an adapter to OpenStack knows nothing of environments or runs"},
	"openstack/credentials": {[]string{"fault", "openstack", "unpack"},
		"which cloud the user means, as the tools of OpenStack find it"},
	"openstack/inventory": {[]string{"fault", "openstack"}, "what a project has is asked of the cloud alone"},
	"openstack/preflight": {[]string{"fault", "openstack"},
		"it compares what a cluster needs with what the cloud has"},
	"oci": {[]string{"fault"}, "an adapter to OCI registries knows nothing of what is in them"},

	// parts
	"pipeline": {[]string{"event", "fault"}, "phases report events and fail with faults"},
	"render": {[]string{"event", "oneline", "timeline"},
		"views read events and nothing else, so that any run can be replayed into them"},
	"timeline": {[]string{"event"}, "what the events of a run say together is read from them and nothing else"},
	"trace":    {[]string{"timeline"}, "a trace is another form of what the events of a run say together"},
	"runs": {[]string{"event", "fault", "render", "timeline", "oneline", "unpack"},
		"a run is kept in the form that the view for programs has, and read back from it"},
	"parts": {[]string{"unpack"}, "what is installed is read from the content and from the build " +
		"information, and from nothing else"},
	"definitions": {[]string{"fault", "unpack"}, "what the chart must know of the definitions beside it is read " +
		"from the files of both alone"},
	"environment": {[]string{"definitions", "fault", "helm", "kustomize", "machineadm", "owned", "suggest", "redact",
		"oneline", "unpack"},
		"an environment is a value: rendered and checked without any outside system"},
	"bundle": {[]string{"docker", "fault", "oci", "unpack", "wholefile"},
		"a bundle is a folder of files; its images go into the Docker engine and into registries"},
	"registry": {[]string{"docker", "fault", "owned"},
		"the environment's registry runs in the Docker engine, under a name of ours"},
	"source": {[]string{"fault", "flux", "oci", "oneline", "source/content", "redirect", "unpack"},
		"where Flux reads from: checked before anything is created, and named in its objects; the index of a Helm " +
			"repository is foreign YAML"},
	"source/content": {[]string{"definitions", "fault", "helm", "kustomize", "machineadm", "oci", "redirect", "unpack",
		"wholefile"},
		"content is made of files and of what their addresses serve, and published in a registry"},
	"benchmark": {nil, "the recommendations are a table: who observes a cluster or renders a definition asks it"},
	"readiness": {[]string{"capi", "flux", "health", "kube", "owned", "unpack"}, "whether a cluster can act is " +
		"read from its API server, whoever asks; who asks looks at the registry"},
	"rollout": {[]string{"capi", "definitions", "environment", "event", "fault", "flux", "health", "kube", "oneline",
		"owned", "pipeline", "source", "source/content", "unpack"},
		"a release in one cluster, and what follows it: for `up`, and for what comes after it"},
	"bootstrap": {[]string{"bundle", "docker", "environment", "fault", "flux", "kind", "kube", "lease", "lock", "oci",
		"owned", "pipeline", "provider", "registry", "rollout", "source", "source/content"},
		"a bootstrap cluster is made in one way, for whichever verb needs one"},
	"lease": {[]string{"fault"}, "one run at a time in a cluster, whatever it does"},
	"lock":  {[]string{"fault"}, "one run at a time, whatever it does"},
	"manifests": {[]string{"environment", "fault", "flux", "redact", "source/content", "unpack"},
		"what an environment comes to is made of it and of the content, without any outside system"},
	"sylva": {[]string{"environment", "fault", "kustomize", "oneline", "unpack"},
		"what the original telco-cloud-init's folders say is said in the words of this one's environments"},
	"backup": {[]string{"capi", "etcd", "fault", "owned", "unpack"},
		"the form of a backup is read and written without any cluster; a snapshot's digest is etcd's"},
	"vm": {[]string{"fault"},
		"the user data of a machine is written from what it is given, without any outside system"},
	"provider": {[]string{"environment"},
		"the seam for infrastructure: what a run asks of the one that it has, of the environment that it applies"},
	"provider/docker": {[]string{"docker", "fault", "kind", "output", "owned", "provider", "provider/docker/addresses"},
		"machines are containers of the Docker engine"},
	"provider/docker/addresses": {[]string{"docker", "fault", "kind", "owned"},
		"containers of a cluster are started with their addresses in one way, for whichever verb finds them stopped"},
	"provider/openstack": {[]string{"environment", "fault", "openstack", "openstack/credentials", "openstack/inventory",
		"openstack/preflight", "provider", "provider/openstack/leftovers"},
		"machines are servers of an OpenStack project, which are proven as what they leave is"},
	"provider/aws": {[]string{"aws", "aws/preflight", "environment", "fault", "provider"},
		"machines are instances of EC2"},
	"provider/known": {[]string{"docker", "environment", "fault", "provider", "provider/aws", "provider/docker",
		"provider/openstack"}, "the only one to read a provider's name: it finds the one that an environment asks for"},
	"provider/openstack/leftovers": {[]string{"fault", "openstack", "owned", "provider", "oneline"},
		"what a cluster has left in a project is found by proof and deleted there, for a verb that knows no provider"},

	"clusters": {[]string{"fault", "capi", "docker", "environment", "flux", "kind", "kube", "lease", "lock", "owned",
		"pipeline", "provider", "readiness", "rollout", "oneline", "wholefile"},
		"the bootstrap cluster, the management cluster and the machines are observed in one way, whichever verb asks"},

	"clusters/selfmanaged": {[]string{"capi", "clusters", "health"},
		"whether a management cluster manages itself is read from its API server, after any verb"},

	// verbs
	"pivot": {[]string{"fault", "capi", "clusters", "owned", "backup", "kube", "pivot/record",
		"lease", "oneline", "readiness"},
		"a pivot ends when its lease is lost, and only then before its end; it is planned and judged from two API " +
			"servers"},
	"pivot/record": {[]string{"backup", "capi", "clusters", "owned", "wholefile"},
		"what a move has to bring is recorded and compared in one way, for a pivot and for a restore"},
	"restore/quorum": {[]string{"backup", "fault", "provider", "unpack"},
		"the etcd of a cluster without a majority is restored on a machine, without any API server"},
	"restore": {[]string{"backup", "capi", "clusters", "clusters/selfmanaged", "fault", "flux", "health", "kube",
		"lease", "oneline", "owned", "pivot", "pivot/record", "redact", "rollout"},
		"a restore keeps the rules of a move; it reads the cluster that was backed up, through the kubeconfig in the " +
			"backup, and what Flux would apply there; it restores the releases of workload clusters"},
	"cleanup": {[]string{"fault", "clusters", "docker", "kind", "owned", "provider", "kube", "capi", "lease",
		"oneline"},
		"cleanup discovers and deletes in the Docker engine, and in a cloud through the seam; from what both clusters " +
			"answer it judges whether it may"},
	"evidence": {[]string{"fault", "docker", "kind", "kube", "owned", "redact", "unpack", "oneline"},
		"it reads clusters and the engine after a run, and knows nothing of how a run goes"},
	"diagnose": {[]string{"fault", "flux", "health", "kind", "kube", "machineadm", "oneline", "owned", "clusters",
		"provider", "readiness", "redact", "unpack"},
		"it reads both clusters and the machines as a run finds them, and says what is wrong"},
	"install": {[]string{"bootstrap", "capi", "cleanup", "clusters", "docker", "environment", "fault", "flux", "kube",
		"oneline", "owned", "pipeline", "registry", "rollout", "source", "source/content", "workload"},
		"an existing cluster gets Flux and a release as a cluster of `up` does, with the parts of that; uninstall refuses " +
			"while there are workload clusters, and ends with a cleanup"},
	"workload": {[]string{"capi", "clusters", "definitions", "environment", "fault", "flux", "health", "kube", "owned",
		"pipeline", "provider", "readiness", "rollout"},
		"a workload cluster is a release in a management cluster that somebody else has found"},
	"status": {[]string{"benchmark", "capi", "clusters", "environment", "fault", "flux", "health", "kube", "oneline",
		"readiness", "rollout", "up", "workload"},
		"it says what up would make of what it sees, lists what is there, and compares the values that the cluster " +
			"was given"},
	"drift": {[]string{"environment", "fault", "flux", "kube", "manifests", "redact", "rollout", "source/content",
		"oneline", "unpack"},
		"what an environment comes to is compared with one cluster after the other, whoever found them"},
	"up": {[]string{"fault", "lease", "owned", "backup", "etcd", "bootstrap", "pipeline", "environment", "provider", "registry",
		"rollout", "source", "source/content", "docker", "kind", "kube", "flux", "capi", "pivot", "pivot/record",
		"clusters", "clusters/selfmanaged", "readiness", "oneline", "health"},
		"the phases of `up` bring the adapters together; a backup follows what components of Flux use"},

	"down": {[]string{"backup", "bootstrap", "capi", "cleanup", "docker", "environment", "fault", "flux", "kube",
		"lease", "owned", "pipeline", "pivot", "clusters", "provider", "rollout", "source/content", "oneline",
		"workload"},
		"a management cluster is taken down by a move back, and by what cleanup finds"},

	// wiring
	"cli": {[]string{"benchmark", "fault", "event", "machineadm", "oneline", "unpack", "suggest", "backup", "bootstrap",
		"pipeline",
		"render", "definitions", "environment", "lease", "lock", "provider", "provider/known", "bundle", "oci", "registry",
		"runs", "source", "source/content", "timeline", "docker", "kind", "kube", "flux", "capi", "parts", "up",
		"rollout", "down", "restore", "restore/quorum", "clusters", "clusters/selfmanaged", "cleanup", "evidence", "diagnose", "status",
		"drift", "manifests", "redact", "sylva", "trace", "root", "ssh", "wholefile", "workload",
		"install", "vm"},
		"the commands wire everything, and are the only ones to know the views"},

	// what tests share: no other line may name it
	"internal/golden":       {nil, "a golden file is compared without knowing what is in it"},
	"internal/prerequisite": {nil, "what a machine has is asked of the machine"},
	"internal/sshserver":    {nil, "an ssh server is nothing of ours"},
	"internal/sshgit":       {[]string{"internal/sshserver"}, "a git server over ssh is an ssh server"},
	"internal/distribution": {nil, "a real registry server is nothing of ours"},
	"internal/apiserver": {nil, "a real API server is nothing of ours; the lab builds it, and a folder is all that " +
		"is known of the lab"},
	"internal/standin": {[]string{"openstack", "openstack/credentials"},
		"a stand-in for OpenStack gives clients and credentials of itself"},
	"internal/project": {[]string{"openstack", "owned"},
		"a project in memory answers as the adapter to OpenStack does, and has what carries our tag"},
	"internal/awsstandin": {[]string{"internal/prerequisite"},
		"a stand-in for AWS is nothing of ours; without Python the test that wants it is skipped"},
	"internal/fixture": {[]string{"capi"}, "the objects of a management cluster have Cluster API's labels"},
	"internal/testenv": {[]string{"capi", "internal/apiserver", "internal/fixture"},
		"API servers with Cluster API's definitions, for the pivot"},
	"internal/kubeconfig": {nil, "a kubeconfig of a cluster that needs not exist is nothing of ours"},
	"internal/fluxserver": {[]string{"capi", "flux", "internal/apiserver", "internal/kubeconfig", "kube", "owned"},
		"a real API server with Flux's objects"},
	"internal/providers": {[]string{"root", "flux", "internal/apiserver", "kube", "source/content"},
		"real managers of providers run as Flux would have them run"},
}

// anyTest is what each test may import besides what its package may, and why.
var anyTest = map[string]string{
	"internal/golden":       "compares with golden files",
	"internal/prerequisite": "needs a program or an engine on the machine",
	"internal/sshgit":       "fetches from a git server over ssh",
	"internal/distribution": "pushes to a real registry",
	"internal/fluxserver":   "asks a real API server that has Flux's objects",
	"internal/kubeconfig":   "reads kubeconfigs of clusters that need not exist",
	"internal/apiserver":    "asks a real API server",
	"root":                  "is held against the content that the binary carries",
}

// testArrows is what the tests of single packages may import besides, and why.
var testArrows = map[string]map[string]string{
	"diagnose": {
		"docker":      "the engine that a diagnosis finds no machine with",
		"environment": "the environment that a diagnosis is about",
	},
	"openstack":           {"internal/standin": "a cloud that gives set answers"},
	"ssh":                 {"internal/sshserver": "a machine that runs what the real ssh brings"},
	"openstack/inventory": {"internal/standin": "a cloud that gives set answers"},
	"openstack/preflight": {
		"internal/standin":      "a cloud that gives set answers",
		"openstack/credentials": "the real cloud of the lab is found in a clouds.yaml",
	},
	"provider/openstack":           {"internal/standin": "a cloud that counts logins"},
	"provider/openstack/leftovers": {"internal/project": "a project with what a cluster leaves in it"},
	"cleanup": {
		"internal/project": "a project with what a cluster leaves in it",
		"openstack":        "the resources of that project",
		"provider/openstack/leftovers": "wherever a deletion is killed, what is left must still be proven: the order " +
			"and the proof are tried together",
	},
	"down": {"event": "what a deletion waits for is heard",
		"kind": "the world of a look has a provider of bootstrap clusters"},
	"install": {"lease": "a run takes a lease", "event": "a run is interrupted when it waits",
		"provider": "the provider of a run"},
	"trace":     {"event": "a run is made of its events"},
	"manifests": {"oci": "the code of a file that is not served"},
	"drift":     {"source": "what is compared was installed as a run installs it"},
	"bootstrap": {"event": "what a look at the manifests warns of is heard"},
	"environment": {
		"benchmark": "what the security profile adds is what the table wants",
		"flux":      "the chart is installed on a real API server that has Flux's definitions",
		"kube":      "the chart is installed on a real API server that has Flux's definitions",

		"internal/providers": "definitions are admitted by the webhooks of real managers",
	},
	"cli": {
		"pivot":            "the backup that is restored",
		"internal/fixture": "the management cluster whose pivot is shown",
		"internal/testenv": "the API servers between which it would be moved",
		"owned":            "the annotation with which a pivot suspends Flux",
	},
	"clusters":             {"event": "what an observation waits for is reported"},
	"clusters/selfmanaged": {"internal/fixture": "a management cluster"},
	"pivot": {
		"health":               "the conditions of Machines that a rule judges",
		"clusters/selfmanaged": "the controllers of the target act after a move",
		"restore":              "the faults that are injected into a move are injected into a restore, too",
		"internal/fixture":     "the management cluster that is moved",
		"internal/testenv":     "the API servers that it is moved between",
	},
	"restore": {"internal/fixture": "the management cluster that is restored"},
	"up": {
		"aws":                 "the credentials of environment kubeadm-capa",
		"provider/aws":        "environment kubeadm-capa is followed with its provider",
		"event":               "what environment kubeadm-capa reports is heard",
		"internal/awsstandin": "environment kubeadm-capa is made in a stand-in for AWS",
		"internal/providers":  "environment kubeadm-capa is followed with real managers",
	},
}
