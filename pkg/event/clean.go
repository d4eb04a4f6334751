package event

import "maps"

// Clean returns a copy of e with redacted texts. Words of cluster-init itself, such as types, phases, states and codes,
// stay, even if a secret is spelled like one.
func (e Event) Clean(redact func(string) string) Event {
	e.Environment, e.Message = redact(e.Environment), redact(e.Message)
	if e.Object != nil {
		o := e.Object.clean(redact)
		e.Object = &o
	}
	objects := make([]Object, len(e.Objects))
	for i, o := range e.Objects {
		objects[i] = o.clean(redact)
	}
	if e.Objects != nil {
		e.Objects = objects
	}
	if e.Delay != nil {
		d := e.Delay.clean(redact)
		e.Delay = &d
	}
	if e.Failure != nil {
		f := *e.Failure
		f.Message, f.Hint = redact(f.Message), redact(f.Hint)
		e.Failure = &f
	}
	e.Fields = maps.Clone(e.Fields)
	for name, value := range e.Fields {
		e.Fields[name] = redact(value)
	}
	return e
}

func (o Object) clean(redact func(string) string) Object {
	o.Namespace, o.Name, o.Reason, o.Message = redact(o.Namespace), redact(o.Name), redact(o.Reason), redact(o.Message)
	var waitsFor []string
	for _, name := range o.WaitsFor {
		waitsFor = append(waitsFor, redact(name))
	}
	o.WaitsFor = waitsFor
	return o
}

func (d Delay) clean(redact func(string) string) Delay {
	var objects []string
	for _, object := range d.Objects {
		objects = append(objects, redact(object))
	}
	d.Objects = objects
	return d
}
