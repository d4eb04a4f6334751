package environment_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/benchmark"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/fault"
)

// withProfile returns the options of a built-in environment with a security profile.
func withProfile(name string, profile benchmark.Profile, sets ...string) environment.Options {
	sets = append([]string{"cluster.security_profile=" + string(profile), "cluster.worker.replicas=1"}, sets...)
	if strings.HasPrefix(name, "kubeadm") {
		sets = append([]string{"cluster.kubernetes.encryption_at_rest.keys[0].name=a",
			"cluster.kubernetes.encryption_at_rest.keys[0].secret=" + encryptionKey}, sets...)
	}
	return environment.Options{Name: name, Variables: variables(allVariables()), Sets: sets}
}

// The definition follows each recommendation that the profile is responsible for.
func TestSecurityProfile(t *testing.T) {
	for _, name := range []string{"kubeadm-capd", "kubeadm-capo", "kubeadm-capa", "rke2-capd", "rke2-capo"} {
		for _, profile := range []benchmark.Profile{benchmark.CIS, benchmark.STIG} {
			t.Run(name+" "+string(profile), func(t *testing.T) {
				made := 0
				var failed []benchmark.Failed
				for _, o := range applied(t, load(t, withProfile(name, profile)), "cluster") {
					if arguments, known := benchmark.OfDefinition(o); known {
						failed, made = benchmark.Evaluate(arguments, profile.OfDefinition())
					}
				}
				for _, f := range failed {
					// RKE2 sets these itself.
					own := strings.HasPrefix(f.Argument, "audit-") || f.Argument == "encryption-provider-config"
					if !own || strings.HasPrefix(name, "kubeadm") {
						t.Error(f)
					}
				}
				if made == 0 {
					t.Error("nothing was checked")
				}
			})
		}
	}
}

// What the user sets counts, and what the profile adds is next to it.
func TestSecurityProfileAndOwnSettings(t *testing.T) {
	env := load(t, withProfile("kubeadm-capd", benchmark.STIG, "cluster.kubernetes.api_server.extra_args.profiling=true",
		"cluster.kubernetes.admission.plugins={AlwaysPullImages}",
		"cluster.kubernetes.admission.pod_security.enforce=restricted", "cluster.machines.post_commands={echo last}",
		"cluster.machines.sysctls.kernel\\.panic=5",
		"cluster.kubernetes.audit_policy.rules[0].level=Request"))
	spec := configurations(t, env)["KubeadmControlPlane"]
	arguments := strings.Join(argumentsAt(spec, "clusterConfiguration", "apiServer", "extraArgs"), " ")
	for _, want := range []string{"profiling=true", "service-account-extend-token-expiration=false",
		"enable-admission-plugins=NodeRestriction,AlwaysPullImages,DenyServiceExternalIPs"} {
		if !strings.Contains(arguments, want) {
			t.Errorf("%s is not among %s", want, arguments)
		}
	}
	files := contentOfFiles(spec)
	for file, want := range map[string]string{"audit-policy.json": `"rules":[{"level":"Request"}]`,
		"admission.json": `"audit":"restricted","audit-version":"latest","enforce":"restricted"`} {
		if text := files["/etc/kubernetes/cluster-init/"+file]; !strings.Contains(text, want) {
			t.Errorf("%s is %s", file, text)
		}
	}
	if text := files["/etc/sysctl.d/90-cluster-init.conf"]; !strings.Contains(text, "kernel.panic = 5\n") ||
		!strings.Contains(text, "vm.overcommit_memory = 1\n") {
		t.Errorf("the kernel parameters are %s", text)
	}
	commands, _, _ := unstructured.NestedStringSlice(spec, "postKubeadmCommands")
	if len(commands) != 2 || !strings.Contains(commands[0], "chmod 600") || commands[1] != "echo last" {
		t.Errorf("it runs at last %q", commands)
	}
}

// With kubeadm the profile needs a key from the user.
func TestSecurityProfileWithoutKey(t *testing.T) {
	_, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
		Variables: variables(allVariables()), Sets: []string{"cluster.security_profile=cis"}})
	if fault.CodeOf(err) != fault.ValuesInvalid || !strings.Contains(err.Error(), "encryption_at_rest.keys has no key") {
		t.Errorf("%v", err)
	}
}
