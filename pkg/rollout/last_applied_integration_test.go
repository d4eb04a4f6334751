//go:build integration

package rollout

import (
	"context"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/environment"
	"github.com/cluster-init/cluster-init/pkg/kube"
	"github.com/cluster-init/cluster-init/pkg/owned"
)

func TestDifferences(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waitBound)
	defer cancel()
	load := func(set ...string) *environment.Environment {
		env, err := environment.Load(ctx, environment.Options{Name: "kubeadm-capd", Content: clusterinit.Content(),
			Sets: set})
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	asked := func(c *kube.Cluster, set ...string) ([]environment.Change, string) {
		t.Helper()
		differ, whose, err := Differences(ctx, c, load(set...))
		if err != nil {
			t.Fatal(err)
		}
		return differ, whose
	}
	if differ, whose := asked(shared.Client); len(differ) > 0 || whose != "" {
		t.Errorf("of a cluster that was given nothing: %v, %q", differ, whose)
	}

	given, err := load().Objects()
	if err != nil {
		t.Fatal(err)
	}
	objects := []client.Object{given.Values, given.Secrets, given.InfraSecrets}
	t.Cleanup(func() { shared.Remove(context.WithoutCancel(ctx), t, objects...) })
	if err := shared.Client.ApplyAll(ctx, objects...); err != nil {
		t.Fatal(err)
	}
	own := load().ClusterName()
	if differ, whose := asked(shared.Client); len(differ) > 0 || whose != own {
		t.Errorf("of the values that were given: %v, %q", differ, whose)
	}
	differ, whose := asked(shared.Client, "cluster.worker.replicas=3")
	if len(differ) != 1 || differ[0].Key != "cluster.worker.replicas" || differ[0].To != "3" || whose != own {
		t.Errorf("of another value: %v, %q", differ, whose)
	}
	if differ, whose := asked(shared.Client, "cluster.name=other"); len(differ) > 0 || whose != own {
		t.Errorf("of another cluster: %v, %q", differ, whose)
	}

	config, err := clientcmd.Load(shared.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo].Impersonate = "no-rights"
	kubeconfig, err := clientcmd.Write(*config)
	if err != nil {
		t.Fatal(err)
	}
	refused, err := kube.Connect("management", kubeconfig, shared.Client.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	if differ, whose, err := Differences(ctx, refused, load()); err == nil {
		t.Errorf("as a user without rights: %v, %q, and no error", differ, whose)
	}
	if given.Values.Labels[owned.ClusterLabel] != own {
		t.Error("the values do not say whose they are")
	}
}
