//go:build e2e

package e2e

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMatrixUpHopeless asks for machines of an image that its registry does not have: the run says so and ends long
// before its time is up, and resumes when the image exists.
func TestMatrixUpHopeless(t *testing.T) {
	l := newLab(t)
	cleanBefore(t, l)
	listener, err := net.Listen("tcp", "127.0.0.1:0") // where Docker needs no TLS
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, listener, distribution(t))
	report := t.TempDir() + "/junit.xml"
	up := []string{"up", environmentName, "--bundle", l.bundle, "--junit", report}
	started := time.Now()
	code, _ := l.run(t, append(up, "--set", "cluster.image="+listener.Addr().String()+"/nope:v1")...)
	took := time.Since(started).Round(time.Second)
	if code != 50 || took > 10*time.Minute {
		t.Errorf("ended with %d after %s", code, took)
	}
	t.Logf("gave up after %s", took)
	content, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the image of the machine does not exist", listener.Addr().String() + "/nope:v1"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the report does not say %q:\n%s", want, content)
		}
	}
	if code, _ := l.run(t, up...); code != 0 {
		t.Errorf("with an image that is there it ended with %d", code)
	}
}
