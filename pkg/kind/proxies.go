package kind

import (
	"os"
	"strings"
)

// Proxies are addresses, empty where there is no proxy, and the list of what is reached without one.
type Proxies struct{ HTTP, HTTPS, No string }

// inForce puts the proxies into the environment of this process, and takes out those that a node shall not have: kind
// knows no other way to give them to a node, and it runs the docker CLI, which reads them too. restore puts back what
// was there.
func (p Proxies) inForce() (restore func(), err error) {
	if p.HTTP == "" && p.HTTPS == "" {
		p.No = ""
	}
	var undo []func() error
	restore = func() {
		for _, step := range undo {
			_ = step() // it fails for names that are none
		}
	}
	for name, value := range map[string]string{"HTTP_PROXY": p.HTTP, "HTTPS_PROXY": p.HTTPS, "NO_PROXY": p.No} {
		for _, name := range []string{name, strings.ToLower(name)} {
			if before, set := os.LookupEnv(name); set {
				undo = append(undo, func() error { return os.Setenv(name, before) })
			} else {
				undo = append(undo, func() error { return os.Unsetenv(name) })
			}
			if value == "" {
				err = os.Unsetenv(name)
			} else {
				err = os.Setenv(name, value)
			}
			if err != nil {
				restore()
				return nil, err
			}
		}
	}
	return restore, nil
}
