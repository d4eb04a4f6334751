package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Join makes one error of several independent problems, so that the user can fix all of them at once. Its message has a
// line for each, its code is that of the first, and its hint has all their hints. Nils and duplicates are left out, and
// nested joins become one list. A single problem is returned as it is; without any, Join returns nil.
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

// Problems splits the result of Join: it returns err itself if that is one problem, and nothing for nil.
func Problems(err error) []error {
	if err == nil {
		return nil
	}
	if several, ok := err.(*joined); ok { //nolint:errorlint // an error that wraps it has its own message
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
