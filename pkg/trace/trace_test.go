package trace_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/cluster-init/cluster-init/pkg/event"
	"github.com/cluster-init/cluster-init/pkg/timeline"
	"github.com/cluster-init/cluster-init/pkg/trace"
)

func at(seconds int) time.Time { return time.Date(2026, 1, 2, 3, 4, seconds, 0, time.UTC) }

// run has a phase that was skipped and one that failed, with an object that was ready and one that was not.
func run() timeline.Timeline {
	object := func(name, state, message string) *event.Object {
		return &event.Object{Cluster: "bootstrap", Kind: "Kustomization", Namespace: "flux-system", Name: name,
			State: state, Message: message}
	}
	failure := &event.Failure{Code: "component/stuck", Message: "waiting for the components: capi is not ready"}
	return timeline.Of([]event.Event{
		{Time: at(0), Type: event.RunStarted, Command: "up", Environment: "kubeadm-capd"},
		{Time: at(1), Type: event.PhaseStarted, Phase: "registry", Title: "registry"},
		{Time: at(2), Type: event.PhaseSkipped, Phase: "registry", Title: "registry", Message: "it runs already"},
		{Time: at(2), Type: event.PhaseStarted, Phase: "management-cluster", Title: "management cluster"},
		{Time: at(3), Type: event.Warning, Message: "little memory"},
		{Time: at(4), Type: event.ObjectChanged, Object: object("cert-manager", "Progressing", "building")},
		{Time: at(4), Type: event.ObjectChanged, Object: object("capi", "Progressing", "health checks")},
		{Time: at(9), Type: event.ObjectChanged, Object: object("cert-manager", "Ready", "")},
		{Time: at(12), Type: event.PhaseFailed, Phase: "management-cluster", Title: "management cluster",
			Failure: failure},
		{Time: at(13), Type: event.RunFinished, Failure: failure},
	})
}

// receiver takes traces as OpenTelemetry's collector does over HTTP: it stands in for one.
func receiver(t *testing.T, answer int) (url string, spans func() []*tracev1.Span) {
	var got []*tracev1.Span
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		request := &collectortrace.ExportTraceServiceRequest{}
		if err == nil {
			err = proto.Unmarshal(body, request)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		for _, resource := range request.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				got = append(got, scope.Spans...)
			}
		}
		w.WriteHeader(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []*tracev1.Span { s.Close(); return got }
}

func TestSend(t *testing.T) {
	url, spans := receiver(t, http.StatusOK)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
	t.Setenv("TRACEPARENT", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if err := trace.Send(t.Context(), run(), "v1"); err != nil {
		t.Fatal(err)
	}
	byName := map[string]*tracev1.Span{}
	byID := map[string]string{"\xb7\xadkqi 31": "the pipeline's"}
	for _, s := range spans() {
		byName[s.Name], byID[string(s.SpanId)] = s, s.Name
		if got := string(s.TraceId); got != "\x0a\xf7\x65\x19\x16\xcd\x43\xdd\x84\x48\xeb\x21\x1c\x80\x31\x9c" {
			t.Errorf("%s is of trace %x", s.Name, got)
		}
	}
	const run = "cluster-init up kubeadm-capd"
	for name, want := range map[string]struct {
		parent     string
		start, end int
		failed     bool
	}{
		run:                          {"the pipeline's", 0, 13, true},
		"registry":                   {run, 1, 2, false},
		"management-cluster":         {run, 2, 12, true},
		"Kustomization/cert-manager": {"management-cluster", 4, 9, false},
		"Kustomization/capi":         {"management-cluster", 4, 12, false},
	} {
		s := byName[name]
		if s == nil {
			t.Errorf("there is no span %s", name)
			continue
		}
		if byID[string(s.ParentSpanId)] != want.parent || s.StartTimeUnixNano != uint64(at(want.start).UnixNano()) ||
			s.EndTimeUnixNano != uint64(at(want.end).UnixNano()) {
			t.Errorf("%s: below %q, from %s to %s", name, byID[string(s.ParentSpanId)],
				time.Unix(0, int64(s.StartTimeUnixNano)).UTC(), time.Unix(0, int64(s.EndTimeUnixNano)).UTC())
		}
		if failed := s.Status.GetCode() == tracev1.Status_STATUS_CODE_ERROR; failed != want.failed {
			t.Errorf("%s: failed %v", name, failed)
		}
	}
	if events := byName["Kustomization/cert-manager"].GetEvents(); !slices.ContainsFunc(
		events, func(e *tracev1.Span_Event) bool { return e.Name == "Ready" }) {
		t.Errorf("the history of an object: %v", events)
	}
}

// A receiver that refuses, or is not there, is an error, and soon.
func TestSendFails(t *testing.T) {
	refuses, _ := receiver(t, http.StatusForbidden)
	for name, url := range map[string]string{"it refuses": refuses, "no server": "http://127.0.0.1:1",
		"no address": "::"} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
		begun := time.Now()
		if err := trace.Send(t.Context(), run(), "v1"); err == nil ||
			!strings.HasPrefix(err.Error(), "send the trace: ") || time.Since(begun) > 20*time.Second {
			t.Errorf("%s: %v after %s", name, err, time.Since(begun))
		}
	}
}

func TestWanted(t *testing.T) {
	for name, tc := range map[string]struct {
		variables map[string]string
		want      bool
	}{
		"nothing":        {nil, false},
		"an endpoint":    {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, true},
		"one for traces": {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, true},
		"to stdout": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x",
			"OTEL_TRACES_EXPORTER": "console"}, false},
		"as it is": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "otlp"},
			true},
		"switched off": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"},
			false},
	} {
		if got := trace.Wanted(func(name string) string { return tc.variables[name] }); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
