package cli

import (
	"reflect"
	"testing"

	clusterinit "github.com/cluster-init/cluster-init"
	"github.com/cluster-init/cluster-init/pkg/clusters"
	"github.com/cluster-init/cluster-init/pkg/environment"
)

// A command that works with the values of the last run masks the secrets of those values too.
func TestViewedMasksWhatItUses(t *testing.T) {
	load := func(sets ...string) *environment.Environment {
		t.Helper()
		env, err := environment.Load(t.Context(), environment.Options{Name: "kubeadm-capd",
			Content: clusterinit.Content(), Sets: sets})
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	given, applied := load(), load("git_auth_default.username=u", "git_auth_default.password=hunter2")
	v := &viewed{World: clusters.New(clusters.Subject{Identity: clusters.IdentityOf(given)}, clusters.Parts{}),
		environment: given}
	v.use(applied)
	if got := v.Secrets; !reflect.DeepEqual(got, applied.SecretDocuments()) {
		t.Errorf("it masks the secrets of the former values: %v", got)
	}
	if v.up().Environment != applied {
		t.Error("the run of up has the former values")
	}
}
