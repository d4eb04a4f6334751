package up

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/clusters/selfmanaged"
	"github.com/cluster-init/cluster-init/pkg/pipeline"
)

// A cluster that was not seen to manage itself has another fault than one whose machines are still being replaced.
func TestProofSaysWhatLacks(t *testing.T) {
	replaced, refused := []selfmanaged.Unmet{{Object: "Cluster m/m", Message: "1 of 3"}}, errors.New("timeout")
	type look struct {
		proof
		err error
	}
	for name, tc := range map[string]struct {
		looks         []look
		awaited, lack string
		unmet         int
	}{
		"no look has ended": {[]look{{err: refused}}, "to manage itself",
			"was not seen to manage itself", 0},
		"it does not manage itself": {[]look{{proof: proof{unmet: replaced}}}, "to manage itself",
			"was not seen to manage itself", 1},
		"machines are left": {[]look{{proof: proof{manages: true, machinesChecked: true, unmet: replaced}}},
			"all its machines", "manages itself, but was not seen to have all its machines", 1},
		"then the time is up within a look": {[]look{
			{proof: proof{manages: true, machinesChecked: true, unmet: replaced}},
			{err: refused}}, "all its machines", "manages itself, but was not seen to have all its machines", 1},
		"its machines could not be looked at": {[]look{{proof: proof{unmet: replaced}},
			{proof: proof{manages: true}, err: refused}}, "all its machines",
			"manages itself, but was not seen to have all its machines", 0},
		"its controllers do not act": {[]look{{proof: proof{manages: true, machinesChecked: true,
			unmet: []selfmanaged.Unmet{{Aspect: selfmanaged.AspectHealth, Object: "Deployment/capi-system/capi"}}}}},
			"to be able to act", "cannot act", 1},
		"then a look comes no further": {[]look{{proof: proof{manages: true, machinesChecked: true, unmet: replaced}},
			{proof: proof{manages: true}, err: refused}}, "all its machines", "manages itself", 1},
		"two looks come no further": {[]look{{proof: proof{unmet: replaced}}, {err: refused}},
			"to manage itself", "was not seen to manage itself", 1},
		"its controllers could not be read": {[]look{
			{proof: proof{manages: true, machinesChecked: true, unmet: replaced}},
			{proof: proof{manages: true, machinesChecked: true}, err: refused}}, "a view of the controllers",
			"it was not seen whether its controllers act", 0},
		"nothing is left but marks": {[]look{{proof: proof{manages: true, machinesChecked: true,
			controllersRead: true}}}, "the marks of the pivot", "could not be looked at", 0},
		"it does not manage itself any more": {[]look{{proof: proof{manages: true, machinesChecked: true}},
			{proof: proof{unmet: replaced}}}, "to manage itself", "was not seen to manage itself", 1},
	} {
		var p proof
		for _, l := range tc.looks {
			p = p.merge(l.proof, l.err)
		}
		if awaited, lack := p.describe(); !strings.Contains(awaited, tc.awaited) || !strings.Contains(lack, tc.lack) ||
			len(p.unmet) != tc.unmet {
			t.Errorf("%s: %q, %q, %d", name, awaited, lack, len(p.unmet))
		}
	}
}

// warned keeps warnings.
type warned struct {
	pipeline.Reporter
	all []string
}

func (w *warned) Warn(format string, args ...any) {
	w.all = append(w.all, fmt.Sprintf(format, args...))
}

func TestTheSameWarningIsReportedOnce(t *testing.T) {
	r := &warned{}
	report := onceEach{r, map[string]bool{}}
	for range 3 {
		report.Warn("%d of %d", 1, 2)
		report.Warn("100%% of %s", "b")
	}
	if got := strings.Join(r.all, ", "); got != "1 of 2, 100% of b" {
		t.Errorf("got %s", got)
	}
}
