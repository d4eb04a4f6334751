package restore

import "strings"

// plainWord are the characters that no shell interprets.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,"

// shellWord returns text as one word of a command that a person pastes into a shell.
func shellWord(text string) string {
	if text != "" && strings.Trim(text, plainWord) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
