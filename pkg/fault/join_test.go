package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/cluster-init/cluster-init/pkg/fault"
)

func TestJoin(t *testing.T) {
	image := fault.New(fault.ValuesInvalid, "no image", "set it")
	source := fault.New(fault.Usage, "no source\nof that kind", "use git")
	cases := map[string]struct {
		err     error
		message string
		code    fault.Code
		hint    string
	}{
		"one stays as it is": {fault.Join(nil, source, nil), "no source\nof that kind", fault.Usage, "use git"},
		"a line for each": {fault.Join(image, source),
			"2 problems:\n  - no image\n  - no source\n    of that kind", fault.ValuesInvalid, "set it\nuse git"},
		"joined again: one list": {fault.Join(fault.Join(image, source), errors.New("x")),
			"3 problems:\n  - no image\n  - no source\n    of that kind\n  - x", fault.ValuesInvalid,
			"set it\nuse git"},
		"the same one once": {fault.Join(image, fault.Join(image, nil)), "no image", fault.ValuesInvalid,
			"set it"},
		"with words before it": {fmt.Errorf("load: %w", fault.Join(image, source)),
			"load: 2 problems:\n  - no image\n  - no source\n    of that kind", fault.ValuesInvalid, "set it\nuse git"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := test.err.Error(); got != test.message {
				t.Errorf("message %q, want %q", got, test.message)
			}
			if got := fault.CodeOf(test.err); got != test.code {
				t.Errorf("code %s, want %s", got, test.code)
			}
			if got := fault.HintOf(test.err); got != test.hint {
				t.Errorf("hint %q, want %q", got, test.hint)
			}
		})
	}
	if err := fault.Join(nil, fault.Join()); err != nil {
		t.Errorf("nothing is %v", err)
	}
	if !errors.Is(fault.Join(image, context.Canceled), context.Canceled) {
		t.Error("a cause is not seen through it")
	}
}
