package bundle

// References returns the references of the images for one kind of load, in the order of the index.
func (b *Bundle) References(load Load) []string {
	var references []string
	for _, image := range b.Index.Images {
		if image.Load == load {
			references = append(references, image.Reference)
		}
	}
	return references
}
