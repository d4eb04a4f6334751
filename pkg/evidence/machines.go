package evidence

import "context"

// Said is output of a machine, or of the cloud about it: its fault, and the end of its console.
type Said struct{ Machine, From, Text string }

const machinesName = "machines"

// machines writes the output of machines. Like logs it could hold secrets, so all of them must be known.
func (c Collector) machines(ctx context.Context, f *folder, known bool) {
	if c.Machines == nil {
		return
	}
	if !known {
		f.problem("what the machines say: left out, as the Secrets of a cluster are not known")
		return
	}
	said, err := c.Machines(ctx)
	for _, each := range said {
		f.text(machinesName+"/"+inName(each.Machine)+"."+inName(each.From)+".txt", "what the machine says: "+each.From,
			each.Text)
	}
	if err != nil {
		f.problem("what the machines say: %v", err)
	}
}
