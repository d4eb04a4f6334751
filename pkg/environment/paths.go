package environment

// ComponentPaths returns the folders of the content that any phase uses. Only what these refer to must be fetched.
func (e *Environment) ComponentPaths() ([]string, error) {
	seen := map[string]bool{}
	var paths []string
	for _, phase := range e.phases() {
		components, err := e.Components(phase)
		if err != nil {
			return nil, err
		}
		for _, c := range components {
			if c.Source == ReleaseName && !seen[c.Path] { // otherwise Flux reads it from another repository
				seen[c.Path] = true
				paths = append(paths, c.Path)
			}
		}
	}
	return paths, nil
}
