package ssh

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// rootPath has the folders of programs on machines: sudo's own path and that of a session often lack some.
	rootPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin"

	// noRoot is the exit code of asRoot if the user cannot become root, mostCode the highest one of the program. ssh's
	// own failures have 255.
	noRoot, mostCode = 253, 252
	// asRoot runs its arguments as root. sudo must not read the input, which is the program's.
	asRoot = `test "$(id -u)" = 0 || { sudo -n -- true </dev/null || exit 253; set -- sudo -n -- "$@"; }
"$@"; code=$?; test "$code" -le 252 || code=252; exit "$code"`
)

// commandLine returns the line for the shell of the remote user that runs a program as root. sshd gives the line to
// that shell as it is.
func commandLine(args []string) (string, error) {
	if len(args) == 0 {
		return "", errors.New("no program is given")
	}
	if args[0] == "" || strings.HasPrefix(args[0], "-") || strings.Contains(args[0], "=") { // sudo and env read these
		return "", fmt.Errorf("%q is not the name of a program", args[0])
	}
	words := []string{"sh", "-c", quote(asRoot), "sh", "env", rootPath}
	for _, word := range args {
		if strings.Contains(word, "\x00") {
			return "", errors.New("an argument has a NUL character")
		}
		words = append(words, quote(word))
	}
	return strings.Join(words, " "), nil
}

// quote makes one word of a text for a POSIX shell, whatever it contains.
func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
