package process

import "testing"

func TestParseStat(t *testing.T) {
	rest := " S 1 77 55 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 99 100"
	tests := map[string]struct {
		line string
		want stat
		bad  bool
	}{
		"plain":                       {line: "42 (sleep)" + rest, want: stat{42, "S", 55, "123456"}},
		"a name with blanks":          {line: "42 (rpc worker (1) S 9)" + rest, want: stat{42, "S", 55, "123456"}},
		"empty":                       {line: "", bad: true},
		"truncated":                   {line: "42 (sleep) S 1 77", bad: true},
		"a process that is no number": {line: "x (sleep)" + rest, bad: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat(tc.line)
			if (err != nil) != tc.bad || got != tc.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
			}
		})
	}
}
