package kind

import (
	"os"
	"strings"
)

// Proxies are the addresses of proxies, empty for none, and the list of hosts that are reached without one.
type Proxies struct{ HTTP, HTTPS, No string }

// inForce sets the proxies in the environment of this process, and removes those that a node must not have: kind takes
// them only from there, and so does the docker CLI that it runs. restore restores the environment.
func (p Proxies) inForce() (restore func(), err error) {
	if p.HTTP == "" && p.HTTPS == "" {
		p.No = ""
	}
	var undo []func() error
	restore = func() {
		for _, step := range undo {
			_ = step() // it fails for invalid names
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
