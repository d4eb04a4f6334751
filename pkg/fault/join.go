package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Join makes one error of several problems that do not depend on each other, so that the reader can correct all of them
// at once: its message has a line for each, its code is that of the first and its hint all their hints. Nils are left
// out, and so is a problem that says what another one said; joined problems that are joined again stay one list. A
// single problem stays as it is; none is nil.
func Join(errs ...error) error {
	var list []error
	for _, err := range errs {
		for _, each := range Problems(err) {
			if !slices.ContainsFunc(list, func(said error) bool { return said.Error() == each.Error() }) {
				list = append(list, each)
			}
		}
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0]
	}
	return &joined{list}
}

// Problems takes apart what Join made: err itself when that is one problem only, nothing for nil.
func Problems(err error) []error {
	if err == nil {
		return nil
	}
	if several, ok := err.(*joined); ok { // what wraps it has words of its own
		return several.list
	}
	return []error{err}
}

// joined holds two problems or more.
type joined struct{ list []error }

// Error has a line for each problem; further lines of one are set off below it.
func (j *joined) Error() string {
	text := fmt.Sprintf("%d problems:", len(j.list))
	for _, problem := range j.list {
		text += "\n  - " + strings.ReplaceAll(problem.Error(), "\n", "\n    ")
	}
	return text
}

// Unwrap returns the problems.
func (j *joined) Unwrap() []error { return j.list }
