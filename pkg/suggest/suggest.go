// Package suggest finds known names that are similar to a mistyped one.
package suggest

import (
	"slices"
	"strings"
)

// farthest is the maximum number of wrong letters.
const farthest = 2

// Near returns the known names nearest to typed, sorted: those with the fewest wrong, missing, added or swapped
// letters, at most two. If none is near, it returns the names that begin with typed.
func Near(typed string, known []string) []string {
	if typed == "" {
		return nil
	}
	typed = strings.ToLower(typed)
	least := min(farthest, len([]rune(typed))-1) // a name without a common letter is not similar
	var near, longer []string
	for _, name := range known {
		lower := strings.ToLower(name)
		if strings.HasPrefix(lower, typed) {
			longer = append(longer, name)
		}
		switch d := distance([]rune(typed), []rune(lower)); {
		case d > least:
		case d < least:
			least, near = d, []string{name}
		default:
			near = append(near, name)
		}
	}
	if len(near) == 0 {
		near = longer
	}
	slices.Sort(near)
	return near
}

// Hint returns a line for each similar name, with before as its prefix. It is empty if there is none.
func Hint(typed string, known []string, before string) string {
	var lines strings.Builder
	for _, name := range Near(typed, known) {
		lines.WriteString("Did you mean this: " + before + name + "\n")
	}
	return lines.String()
}

// distance is the number of letters to change, add, remove or swap with the next one, to turn a into b.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			rows[i][j] = min(changed, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
