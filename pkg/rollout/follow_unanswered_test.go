package rollout

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/cluster-init/cluster-init/pkg/fault"
	"github.com/cluster-init/cluster-init/pkg/kube"
)

// The wait lasts as long as Unanswered changes something. Then it ends as without it.
func TestSilenceBeginsAnewWhenSomethingIsDone(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	c, err := kube.Connect("management", []byte("apiVersion: v1\nkind: Config\ncurrent-context: c\n"+
		"clusters: [{name: c, cluster: {server: '"+gone.URL+"'}}]\n"+
		"contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n"), clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	const bound, helps = questions * time.Millisecond, 3 * questions
	asked := 0
	err = Follower{cluster: c, silence: bound, unanswered: func(context.Context, []string) bool {
		asked++
		return asked <= helps
	}}.listen(t.Context())
	if fault.CodeOf(err) != fault.ClusterUnreachable || asked <= helps {
		t.Errorf("%v after %d questions", err, asked)
	}
}
