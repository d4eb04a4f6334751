package evidence

import "context"

// Said is output of a machine, or of the cloud about it: its fault, and the end of its console.
type Said struct{ Machine, From, Text string }

const machinesName = "machines"

// machines writes the output of machines. Like logs it could hold secrets, so the redactor must know all of them.
func (c Collector) machines(ctx context.Context, f *folder, secretsKnown bool) {
	if c.Machines == nil {
		return
	}
	if !secretsKnown {
		f.problem("what the machines say: left out, as the Secrets of a cluster are not known")
		return
	}
	outputs, err := c.Machines(ctx)
	for _, output := range outputs {
		f.text(machinesName+"/"+pathElement(output.Machine)+"."+pathElement(output.From)+".txt",
			"what the machine says: "+output.From, output.Text)
	}
	if err != nil {
		f.problem("what the machines say: %v", err)
	}
}
