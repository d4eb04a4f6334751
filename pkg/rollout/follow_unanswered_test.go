package rollout

import (
	"context"
	"net/http"
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
	c := connect(t, gone.URL)
	const bound, times = questions * time.Millisecond, 3 * questions
	asked := 0
	err := Follower{cluster: c, silence: bound, unanswered: func(context.Context, []string) bool {
		asked++
		return asked <= times
	}}.listen(t.Context())
	if fault.CodeOf(err) != fault.ClusterUnreachable || asked <= times {
		t.Errorf("%v after %d questions", err, asked)
	}
}

// An API server whose etcd has lost its quorum answers that it is not ready. The address may have to move away from it,
// and the wait does not end.
func TestAServerThatIsNeverReadyIsNoSilenceAndCanBeHelped(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "[-]etcd failed: reason withheld", http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	const bound = 200 * questions * time.Millisecond // a loaded machine answers in time, too
	begun, asked := time.Now(), 0
	err := Follower{cluster: connect(t, server.URL), silence: bound, unanswered: func(context.Context, []string) bool {
		if since := time.Since(begun); asked == 0 && since < bound/2 {
			t.Errorf("it was asked for help after %s", since)
		}
		if asked++; asked > helps { // by then a silent server would have ended the wait
			cancel()
		}
		return false
	}}.listen(ctx)
	if err != nil || asked == 0 {
		t.Errorf("%v; it was asked for help %d times", err, asked)
	}
}

func connect(t *testing.T, server string) *kube.Cluster {
	t.Helper()
	c, err := kube.Connect("management", []byte("apiVersion: v1\nkind: Config\ncurrent-context: c\n"+
		"clusters: [{name: c, cluster: {server: '"+server+"'}}]\n"+
		"contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n"), clientgoscheme.Scheme)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
