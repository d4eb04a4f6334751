// Package trace sends a run as a trace to the OpenTelemetry endpoint that environment variables configure.
package trace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/cluster-init/cluster-init/pkg/timeline"
)

// bound limits how long sending a trace delays the end of a run.
const bound = 5 * time.Second

// Wanted reports whether environment variables configure an OTLP endpoint and do not disable it. Other exporters do not
// count: console would write to stdout.
func Wanted(getenv func(string) string) bool {
	exporter := getenv("OTEL_TRACES_EXPORTER")
	return (exporter == "" || exporter == "otlp") && !strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") &&
		(getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "")
}

// Send sends a finished run: a span for it, below it one for each phase, and below those one for each object that the
// phase followed. The variables OTEL_EXPORTER_OTLP_* configure the endpoint. TRACEPARENT names the parent span.
func Send(ctx context.Context, t timeline.Timeline, version string) error {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	exporter, err := autoexport.NewSpanExporter(ctx)
	if err != nil {
		return fmt.Errorf("send the trace: %w", err)
	}
	spans := &collector{}
	about := resource.NewSchemaless(attribute.String("service.name", "cluster-init"),
		attribute.String("service.version", version))
	if named, err := resource.Merge(about, resource.Environment()); err == nil { // the variables win
		about = named
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithResource(about),
		sdktrace.WithRawSpanLimits(sdktrace.SpanLimits{AttributeValueLengthLimit: 1000, AttributeCountLimit: 64,
			EventCountLimit: 256, LinkCountLimit: 1, AttributePerEventCountLimit: 16, AttributePerLinkCountLimit: 1}))
	record(parent(ctx), provider.Tracer("cluster-init"), t)
	err = errors.Join(provider.Shutdown(ctx), exporter.ExportSpans(ctx, spans.all), exporter.Shutdown(ctx))
	if err != nil {
		return fmt.Errorf("send the trace: %w", err)
	}
	return nil
}

// parent returns a context with the span of TRACEPARENT.
func parent(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": os.Getenv("TRACEPARENT"),
		"tracestate": os.Getenv("TRACESTATE")})
}

// collector keeps spans, so that they are sent together and errors are returned.
type collector struct{ all []sdktrace.ReadOnlySpan }

func (c *collector) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	c.all = append(c.all, spans...)
	return nil
}

func (c *collector) Shutdown(context.Context) error { return nil }

// record creates the spans of a run.
func record(ctx context.Context, tracer oteltrace.Tracer, t timeline.Timeline) {
	ctx, run := tracer.Start(ctx, "cluster-init "+t.Command+" "+t.Environment, oteltrace.WithTimestamp(t.Start),
		oteltrace.WithAttributes(attribute.String("cluster_init.command", t.Command),
			attribute.String("cluster_init.environment", t.Environment)))
	for _, warning := range t.Warnings {
		run.AddEvent("warning", oteltrace.WithTimestamp(warning.Time),
			oteltrace.WithAttributes(attribute.String("message", warning.Message)))
	}
	for _, p := range t.Phases {
		phase(ctx, tracer, t, p)
	}
	switch {
	case t.Failure != nil:
		run.SetAttributes(attribute.String("cluster_init.code", t.Failure.Code))
		run.SetStatus(codes.Error, t.Failure.Message)
	case t.Finished:
		run.SetStatus(codes.Ok, "")
	}
	run.End(oteltrace.WithTimestamp(t.End))
}

// phase creates the span of a phase, and those of the objects that it followed.
func phase(ctx context.Context, tracer oteltrace.Tracer, t timeline.Timeline, p timeline.Phase) {
	ctx, span := tracer.Start(ctx, p.Name, oteltrace.WithTimestamp(p.Start), oteltrace.WithAttributes(
		attribute.String("cluster_init.phase.title", p.Title), attribute.String("cluster_init.phase.state",
			string(p.State))))
	for _, s := range t.Spans(p) {
		object(ctx, tracer, s, t.Histories)
	}
	if p.State == timeline.Failed {
		span.SetStatus(codes.Error, p.Message)
	}
	span.End(oteltrace.WithTimestamp(p.End))
}

// object creates the span of an object, with its state changes.
func object(ctx context.Context, tracer oteltrace.Tracer, s timeline.Span, histories []timeline.History) {
	_, span := tracer.Start(ctx, s.Object.Kind+"/"+s.Object.Name, oteltrace.WithTimestamp(s.First),
		oteltrace.WithAttributes(
			attribute.String("k8s.cluster.name", s.Object.Cluster),
			attribute.String("k8s.namespace.name", s.Object.Namespace),
			attribute.String("cluster_init.object.kind", s.Object.Kind), attribute.String("cluster_init.object.state",
				s.Object.State),
			attribute.Bool("cluster_init.critical", s.Critical)))
	for _, h := range histories {
		if h.Object.ID() != s.Object.ID() {
			continue
		}
		for _, c := range h.Changes {
			if c.Time.Before(s.First) || c.Time.After(s.End) {
				continue
			}
			span.AddEvent(c.Object.State, oteltrace.WithTimestamp(c.Time), oteltrace.WithAttributes(
				attribute.String("message", c.Object.Message), attribute.StringSlice("waits_for", c.Object.WaitsFor)))
		}
	}
	span.End(oteltrace.WithTimestamp(s.End))
}
