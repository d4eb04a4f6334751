package oneline

import "fmt"

// Count returns a number with its noun: "1 object", "2 objects". noun is one whose plural ends in s.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
