package environment

import (
	"regexp"
	"time"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

// validate returns the mistakes in the effective values in any phase, each once. Without mistakes it keeps what the
// chart renders. Rendering stops at its first error: if there is one, or a mistake elsewhere, only the chart's own
// checks run.
func (e *Environment) validate() error {
	if err := e.checkTemplates(); err != nil {
		return err
	}
	if e.namesOnly {
		return e.unquote(fault.Join(e.checkNames(), e.checkSchema(e.settled[e.lasting()])))
	}
	var schema error
	for _, phase := range e.phases() {
		schema = fault.Join(schema, e.checkSchema(e.settled[phase]))
	}
	before := fault.Join(e.checkNames(), schema)
	after := fault.Join(e.checkNetworks(), e.checkMirrors(), e.checkProxies(), e.checkAuthorities(time.Now()))
	var all map[Phase]rendering
	var failed, chart error
	if before == nil && after == nil {
		all, failed = e.renderAll()
	}
	if all == nil {
		chart = e.checkChart(schema == nil)
	}
	if problems := fault.Join(before, chart, e.checkNeeded(chart), after); problems != nil {
		return e.unquote(problems)
	}
	e.rendered = all
	if failed == nil {
		failed = e.checkMachineConfigs()
	}
	return e.unquote(failed)
}

// inPhase matches the phase in a message of the chart.
var inPhase = regexp.MustCompile(` in phase (bootstrap|management|workload)`)

// checkTemplate matches the chart's templates that only check values, and their dependencies.
var checkTemplate = regexp.MustCompile(`/_[^/]*\.tpl$|/validate\.yaml$`)

// checkChart runs only the chart's own checks. Values that do not fit the schema may break them: then it reports what
// they still find.
func (e *Environment) checkChart(fits bool) error {
	checks := e.chart.Only(checkTemplate.MatchString)
	var problems []error
	seen := map[string]bool{}
	for _, phase := range e.phases() {
		_, err := checks.Render(e.release(phase), e.given(phase))
		if err == nil || !fits && !chartFailure.MatchString(err.Error()) {
			continue
		}
		for _, problem := range e.explain(phase, err) {
			// A mistake in both phases is reported once.
			if text := inPhase.ReplaceAllString(problem.Error(), ""); !seen[text] {
				seen[text] = true
				problems = append(problems, problem)
			}
		}
	}
	return fault.Join(problems...)
}
