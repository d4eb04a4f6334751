package pkg_test

// rule says what a package may import of the house, and why.
type rule struct {
	imports []string
	reason  string
}

// arrows has a line for each package. A package that is not listed may import nothing: a new one gets a line here, and a reason.
// "content" is what the binary embeds. No line may name e2e: it stands on the house, and not the house on it.
var arrows = map[string]rule{
	// ground
	"fault":  {nil, "every package may have errors with codes, so it stands on nothing"},
	"redact": {nil, "what is a secret, and how it is written, does not depend on who asks"},

	// adapters: one outside system each
	"kube":              {[]string{"fault"}, "an adapter to one API server knows nothing of runs"},
	"docker":            {[]string{"fault"}, "an adapter to the Docker engine knows nothing of runs"},
	"kind":              {[]string{"fault"}, "an adapter to kind knows nothing of runs"},
	"flux":              {[]string{"kube"}, "an adapter to Flux, which is reached through an API server"},
	"capi":              {[]string{"health"}, "an adapter to Cluster API, which is reached through an API server"},
	"aws":               {[]string{"fault"}, "an adapter to AWS's chain of credentials knows nothing of environments"},
	"openstack":         {[]string{"fault"}, "an adapter to OpenStack knows nothing of environments or runs"},
	"artifact":          {[]string{"fault", "docker"}, "an adapter to registries and to the engine that images are loaded into"},
	"artifact/bundle":   {[]string{"fault"}, "a bundle is a folder of files"},
	"artifact/registry": {[]string{"fault", "docker", "owned"}, "the environment's registry runs in the Docker engine, under a name of ours"},

	// parts
	"health":             {nil, "the state of an object is read from the object alone"},
	"owned":              {nil, "what is ours is a matter of names alone, and everybody must agree on them"},
	"event":              {nil, "events are plain values that the core emits and views read"},
	"pipeline":           {[]string{"event", "fault"}, "phases report events and fail with faults"},
	"render":             {[]string{"event"}, "views read events and nothing else, so that any run can be replayed into them"},
	"parts":              {nil, "what is installed is read from the content and from the build information, and from nothing else"},
	"environment":        {[]string{"fault", "owned"}, "an environment is a value: rendered and checked without any outside system"},
	"lock":               {[]string{"fault"}, "one run at a time, whatever it does"},
	"provider":           {nil, "the seam for infrastructure: what a run asks of the one that it has"},
	"provider/docker":    {[]string{"docker", "fault", "kind", "owned", "provider"}, "machines are containers of the Docker engine"},
	"provider/openstack": {[]string{"environment", "fault", "openstack", "provider"}, "machines are servers of an OpenStack project"},
	"provider/aws":       {[]string{"aws", "provider"}, "machines are instances of EC2"},

	// verbs
	"pivot":    {[]string{"fault", "capi", "health"}, "a pivot is planned and judged from two API servers"},
	"cleanup":  {[]string{"fault", "docker", "kind", "openstack", "owned", "kube", "capi"}, "cleanup discovers and deletes in the Docker engine and in a cloud, and asks whether a management cluster still answers"},
	"evidence": {[]string{"fault", "docker", "kind", "kube", "owned", "redact"}, "it reads clusters and the engine after a run, and knows nothing of how a run goes"},
	"bootstrap": {[]string{"fault", "event", "health", "owned", "pipeline", "environment", "provider", "artifact", "artifact/bundle", "artifact/registry", "docker", "kind", "kube", "flux", "capi", "pivot"},
		"the phases of `up` bring the adapters together"},

	// wiring
	"cli": {[]string{"fault", "event", "pipeline", "render", "environment", "lock", "provider", "provider/docker", "provider/openstack", "provider/aws", "artifact", "artifact/bundle", "artifact/registry",
		"openstack", "docker", "kind", "flux", "parts", "bootstrap", "cleanup", "evidence", "redact", "content"},
		"the commands wire everything, and are the only ones to know the views"},

	// what tests share: no other line may name it
	"internal/golden":    {nil, "a golden file is compared without knowing what is in it"},
	"internal/sshgit":    {nil, "a git server over ssh is nothing of ours"},
	"internal/apiserver": {nil, "a real API server is nothing of ours; the lab builds it, and a folder is all that is known of the lab"},
	"internal/fixture":   {[]string{"capi"}, "the objects of a management cluster have Cluster API's labels"},
	"internal/testenv":   {[]string{"capi", "internal/apiserver", "internal/fixture"}, "API servers with Cluster API's definitions, for the pivot"},
	"internal/providers": {[]string{"artifact", "content", "flux", "internal/apiserver", "kube"}, "real managers of providers run as Flux would have them run"},
}

// anyTest is what each test may import besides what its package may, and why.
var anyTest = map[string]string{
	"internal/golden":    "compares with golden files",
	"internal/sshgit":    "fetches from a git server over ssh",
	"internal/apiserver": "asks a real API server",
	"content":            "is held against the content that the binary carries",
}

// testArrows is what the tests of single packages may import besides, and why.
var testArrows = map[string]map[string]string{
	"environment": {
		"flux": "the chart is installed on a real API server that has Flux's definitions",
		"kube": "the chart is installed on a real API server that has Flux's definitions",
	},
	"pivot": {
		"internal/fixture": "the management cluster that is moved",
		"internal/testenv": "the API servers that it is moved between",
	},
	"bootstrap": {
		"aws":                "the credentials of environment kubeadm-capa",
		"provider/aws":       "environment kubeadm-capa is followed with its provider",
		"provider/docker":    "environments are judged with a real provider",
		"internal/providers": "environment kubeadm-capa is followed with real managers",
	},
}
